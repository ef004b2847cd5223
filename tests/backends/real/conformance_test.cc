#include "backends/real/pages.h"
#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

void check(const std::string& name, const ThreadWorld::Settings& how) {
  conformance::World world;
  world.name = fmt::format("{}, {} channels, {} threads", name, how.channels, how.transport.threads);
  world.exact = false;
  // The thread sanitizer keeps four times what is touched.
  world.room = available_memory() / (kThreadSanitizer ? 6 : 2);
  world.run = [how](const conformance::Trial& trial) -> Result<Record> {
    ThreadWorld threads(trial.plan, trial.cluster);
    const auto bytes_of = [&](const Extent& extent) {
      return threads.buffers(trial.plan.buffer(extent.buffer).machine).bytes(extent);
    };
    if (trial.fill) trial.fill(bytes_of);
    ThreadWorld::Settings settings = how;
    settings.drive.patience = trial.patience;
    auto record = threads.run(trial.settings.dispatch, trial.settings.iterations, settings);
    if (!record) return record;
    for (const auto& iteration : record->iterations) {
      for (const Op& op : trial.plan.ops()) {
        if (trial.observer && iteration[op.id.index()].completed > Instant()) trial.observer(op);
      }
    }
    if (trial.look) trial.look(bytes_of);
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
