#include "backends/sim/engine.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir {
namespace {

TEST_CASE("the simulated world keeps the contract of ports", "[conformance]") {
  conformance::check_port({"SimGrid", Duration(1), [](const conformance::Trial& trial) {
                             std::vector<sim::LinkSpec> links;
                             for (const Link& link : trial.cluster.links()) {
                               links.push_back({link.name, static_cast<double>(link.rate.value())});
                             }
                             sim::Engine engine(links);
                             return simulate(trial.plan, trial.cluster, trial.settings, engine,
                                             trial.observer);
                           }});
}

}  // namespace
}  // namespace weir
