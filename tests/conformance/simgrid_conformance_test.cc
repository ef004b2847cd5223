#include "backends/sim/engine.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir {
namespace {

TEST_CASE("the simulated world keeps the contract of ports", "[conformance]") {
  conformance::check_port({"SimGrid", Duration(1),
                           [](const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                              const Observer& observer) {
                             std::vector<sim::LinkSpec> links;
                             for (const Link& link : cluster.links()) {
                               links.push_back({link.name, static_cast<double>(link.rate.value())});
                             }
                             sim::Engine engine(links);
                             return simulate(plan, cluster, settings, engine, observer);
                           }});
}

}  // namespace
}  // namespace weir
