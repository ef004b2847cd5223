// The contract of ports where machines use GPUs; skipped, which is told, where there are none.
#include <list>

#include "backends/real/pages.h"
#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {
namespace {

// What lies on GPUs is written and looked at through copies.
class Copies {
 public:
  Copies(ThreadWorld& world, const Plan& plan) : world_(world), plan_(plan) {}

  std::span<std::byte> bytes(const Extent& extent, bool look) {
    Buffers& buffers = world_.buffers(plan_.buffer(extent.buffer).machine, true);
    const auto home = buffers.bytes(extent);
    if (!buffers.on_gpu(extent.buffer)) return home;
    Copy& copy = copies_.emplace_back(Copy{extent, std::vector<std::byte>(home.size())});
    if (look) REQUIRE(buffers.load(extent, copy.bytes));
    return copy.bytes;
  }

  void write() {
    for (const Copy& copy : copies_) {
      const Buffers& buffers = world_.buffers(plan_.buffer(copy.extent.buffer).machine, true);
      REQUIRE(buffers.store(copy.bytes, copy.extent));
    }
    copies_.clear();
  }

 private:
  struct Copy {
    Extent extent;
    std::vector<std::byte> bytes;
  };
  ThreadWorld& world_;
  const Plan& plan_;
  std::list<Copy> copies_;
};

Result<Record> run(const conformance::Trial& trial, bool shared_memory) {
  ThreadWorld threads(trial.plan, trial.cluster);
  Copies copies(threads, trial.plan);
  if (trial.fill) trial.fill([&](const Extent& extent) { return copies.bytes(extent, false); });
  copies.write();
  ThreadWorld::Settings settings;
  settings.gpus = true;
  settings.shared_memory = shared_memory;
  settings.drive.patience = trial.patience;
  auto record = threads.run(trial.settings.dispatch, trial.settings.iterations, settings);
  if (!record) return record;
  for (const auto& iteration : record->iterations) {
    for (const Op& op : trial.plan.ops()) {
      if (trial.observer && iteration[op.id.index()].completed > Instant()) trial.observer(op);
    }
  }
  if (trial.look) trial.look([&](const Extent& extent) { return copies.bytes(extent, true); });
  return record;
}

TEST_CASE("nodes with GPUs keep the contract of ports", "[gpu]") {
  const auto count = gpu_count();
  REQUIRE(count);
  for (const bool shared_memory : {false, true}) {
    conformance::World world;
    world.name = fmt::format("GPUs, {}", shared_memory ? "shared memory" : "TCP");
    world.exact = false;
    world.room = available_memory() / 2;
    world.gpus = std::max(1, *count / 2);
    world.run = [&](const conformance::Trial& trial) { return run(trial, shared_memory); };
    conformance::check_port(world);
  }
}

}  // namespace
}  // namespace weir::real
