#include "tests/backends/real/trial.h"

#include <cstring>
#include <list>

#include "backends/real/memory/pages.h"
#include "tests/catch.h"
#include "tests/conformance/echo.h"

namespace weir::real {
namespace {

using namespace weir::literals;

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

// Writes and reads data on GPUs through copies.
class Copies {
 public:
  Copies(ThreadWorld& world, const Plan& plan, bool gpus) : world_(world), plan_(plan), gpus_(gpus) {}

  std::span<std::byte> bytes(const Extent& extent, bool look) {
    Buffers& buffers = world_.buffers(plan_.buffer(extent.buffer).machine, gpus_);
    const auto home = buffers.bytes(extent);
    if (!buffers.on_gpu(extent.buffer)) return home;
    Copy& copy = copies_.emplace_back(Copy{extent, std::vector<std::byte>(home.size())});
    if (look) REQUIRE(buffers.load(extent, copy.bytes));
    return copy.bytes;
  }

  void write() {
    for (const Copy& copy : copies_) {
      const Buffers& buffers = world_.buffers(plan_.buffer(copy.extent.buffer).machine, gpus_);
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
  bool gpus_;
  std::list<Copy> copies_;
};

std::span<std::byte> bytes_of(ThreadWorld& world, std::size_t machine, Bytes size) {
  return world.buffers(MachineId(machine)).bytes(Extent{BufferId(machine), 0, {Bytes(0), size}});
}

}  // namespace

Result<Record> run_trial(const conformance::Trial& trial, ThreadWorld::Settings settings) {
  ThreadWorld threads(trial.plan, trial.cluster);
  Copies copies(threads, trial.plan, settings.gpus);
  if (trial.fill) trial.fill([&](const Extent& extent) { return copies.bytes(extent, false); });
  copies.write();
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

void check_contract(const ThreadWorld::Settings& how) {
  conformance::World world;
  world.name = fmt::format("{}{}, {} channels, {} threads", how.sealed ? "sealed " : "",
                           enum_name(how.choice), how.channels, how.transport.threads);
  world.exact = false;
  // The thread sanitizer needs four times the memory that is used.
  world.room = available_memory() / (kThreadSanitizer ? 6 : 2);
  world.run = [how](const conformance::Trial& trial) { return run_trial(trial, how); };
  conformance::check_port(world);
}

void check_large(Bytes large, const ThreadWorld::Settings& settings) {
  constexpr Bytes kSmall{6};
  const Bytes size = large + kSmall;
  if (available_memory() < size * 2 + 2_GB) {
    WARN("this host has no memory for two buffers of " << size.count() << " bytes: nothing was tested");
    return;
  }
  PlanBuilder builder("large", 2);
  const BufferId here = builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  const BufferId there = builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  conformance::message(builder, 0, {here, 0, Bytes(0), large}, {there, 0, Bytes(0), large});
  conformance::message(builder, 0, {here, 0, large, kSmall}, {there, 0, large, kSmall});
  const Plan plan = std::move(builder).build();
  ThreadWorld world(plan, conformance::pair());
  const auto source = bytes_of(world, 0, size);
  constexpr std::size_t kStride = 4099;
  for (std::size_t i = 0; i < source.size(); i += kStride)
    source[i] = static_cast<std::byte>(i / kStride + 1);
  source.back() = std::byte{42};
  const auto record = world.run({Policy::kPriority, 1_B}, 1, settings);
  INFO((record ? std::string() : record.error().text));
  REQUIRE(record);
  CHECK(std::memcmp(source.data(), bytes_of(world, 1, size).data(), source.size()) == 0);
}

}  // namespace weir::real
