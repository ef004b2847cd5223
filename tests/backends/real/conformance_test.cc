#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {
namespace {

TEST_CASE("nodes joined by TCP keep the contract of ports", "[conformance]") {
  for (const int channels : {1, 3}) {
    conformance::World world;
    world.name = fmt::format("TCP, {} channels", channels);
    world.exact = false;
    world.run = [channels](const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                           const Observer& observer) -> Result<Record> {
      ThreadWorld threads(plan, cluster);
      ThreadWorld::Settings how;
      how.channels = channels;
      how.threads = channels;
      auto record = threads.run(settings.dispatch, settings.iterations, how);
      if (!record) return record;
      for (const auto& iteration : record->iterations) {
        for (const Op& op : plan.ops()) {
          if (iteration[op.id.index()].completed > Instant()) observer(op);
        }
      }
      return record;
    };
    conformance::check_port(world);
  }
}

}  // namespace
}  // namespace weir::real
