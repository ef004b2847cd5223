#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/engines/rough_engine.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir {
namespace {

TEST_CASE("the fluid engine keeps the contract of ports", "[conformance]") {
  conformance::check_port({"fluid", Duration(1), [](const conformance::Trial& trial) {
                             FluidEngine engine(trial.plan, trial.cluster);
                             return simulate(trial.plan, trial.cluster, trial.settings, engine,
                                             trial.observer);
                           }});
}

TEST_CASE("the rough engine keeps the contract of ports", "[conformance]") {
  conformance::check_port({"rough", Duration(1), [](const conformance::Trial& trial) {
                             RoughEngine engine(trial.plan, trial.cluster, 1e-12);
                             return simulate(trial.plan, trial.cluster, trial.settings, engine,
                                             trial.observer);
                           }});
}

}  // namespace
}  // namespace weir
