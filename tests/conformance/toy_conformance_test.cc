#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"
#include "tests/toy/engine.h"

namespace weir {
namespace {

TEST_CASE("the toy world keeps the contract of ports", "[conformance]") {
  conformance::check_port({"toy", Duration(1),
                           [](const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                              const Observer& observer) {
                             toy::ToyEngine engine(plan, cluster);
                             return simulate(plan, cluster, settings, engine, observer);
                           }});
}

}  // namespace
}  // namespace weir
