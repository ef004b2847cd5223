#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {
namespace {

void check(const std::string& name, const ThreadWorld::Settings& how) {
  conformance::World world;
  world.name = fmt::format("{}, {} channels, {} threads", name, how.channels, how.transport.threads);
  world.exact = false;
  world.run = [how](const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                    const Observer& observer) -> Result<Record> {
    ThreadWorld threads(plan, cluster);
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

TEST_CASE("nodes joined by TCP keep the contract of ports", "[conformance]") {
  for (const int count : {1, 3}) {
    ThreadWorld::Settings how;
    how.channels = how.threads = how.transport.threads = count;
    check("TCP", how);
  }
}

TEST_CASE("nodes joined by sealed connections keep the contract of ports", "[conformance]") {
  ThreadWorld::Settings how;
  how.channels = how.transport.threads = 2;
  how.sealed = true;
  check("sealed TCP", how);
}

TEST_CASE("nodes that share memory keep the contract of ports", "[conformance]") {
  for (const int count : {1, 3}) {
    ThreadWorld::Settings how;
    how.channels = how.threads = how.transport.threads = count;
    how.shared_memory = true;
    check("shared memory", how);
  }
}

}  // namespace
}  // namespace weir::real
