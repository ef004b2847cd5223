#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"
#include "tests/toy/engine.h"

namespace weir {
namespace {

TEST_CASE("the toy world keeps the contract of ports", "[conformance]") {
  conformance::check_port({"toy", Duration(1), [](const conformance::Trial& trial) {
                             toy::ToyEngine engine(trial.plan, trial.cluster);
                             return simulate(trial.plan, trial.cluster, trial.settings, engine,
                                             trial.observer);
                           }});
}

}  // namespace
}  // namespace weir
