// Bytes of messages, as they lie in memory after they moved.
#include <cstring>

#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

using namespace weir::literals;

const Cluster& pair() {
  static const Cluster cluster = cluster_of(R"({"name": "pair", "groups": [
    {"name": "gpu", "count": 2, "numa": [{"sum_rate": "1GB/s"}], "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  return cluster;
}

std::byte pattern(std::size_t i) { return static_cast<std::byte>((i * 31 + i / 251) & 0xff); }

// Machine 0 sends all sizes one after the other in memory to machine 1, which sums each into zeros and sends
// it back behind the first half of its own buffer.
struct Echo {
  explicit Echo(const std::vector<Bytes>& sizes) {
    Bytes total;
    for (const Bytes size : sizes) total += size;
    const BufferId here =
        builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, total * 2});
    const BufferId there =
        builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, total});
    Bytes at;
    for (const Bytes size : sizes) {
      const auto [sent, received] = message(0, {here, 0, at, size}, {there, 0, at, size});
      const auto [back, end] = message(1, {there, 0, at, size}, {here, 0, total + at, size});
      builder.order(received, back);
      builder.carry(back, received);
      builder.carry(end, sent);
      at += size;
    }
    plan = std::make_unique<Plan>(std::move(builder).build());
    half = static_cast<std::size_t>(total.count());
  }

  std::pair<OpId, OpId> message(std::size_t source, Slice from, Slice into) {
    Op op;
    op.machine = MachineId(source);
    op.peer = MachineId(1 - source);
    op.kind = OpKind::kSend;
    op.message = builder.add_message();
    op.dtype = Dtype::kF16;
    op.from = from;
    const OpId send = builder.add(op);
    std::swap(op.machine, op.peer);
    op.kind = OpKind::kReceive;
    op.from = {};
    op.into = into;
    return {send, builder.add(op)};
  }

  PlanBuilder builder{"echo", 2};
  std::unique_ptr<Plan> plan;
  std::size_t half = 0;
};

std::span<std::byte> whole(ThreadWorld& world, const Plan& plan) {
  return world.buffers(MachineId(0)).bytes(Extent{BufferId(0), 0, {Bytes(0), plan.buffer(BufferId(0)).size}});
}

void check_echo(const std::vector<Bytes>& sizes, Bytes window, int iterations) {
  const Echo echo(sizes);
  ThreadWorld world(*echo.plan, pair());
  const auto bytes = whole(world, *echo.plan);
  for (std::size_t i = 0; i < echo.half; ++i) bytes[i] = pattern(i);
  for (const auto& [channels, shared_memory] : {std::pair(1, false), {2, false}, {1, true}, {2, true}}) {
    std::memset(&bytes[echo.half], 0, echo.half);
    ThreadWorld::Settings settings;
    settings.channels = channels;
    settings.shared_memory = shared_memory;
    const auto record = world.run({Policy::kPriority, window}, iterations, settings);
    INFO((record ? std::string() : record.error().text));
    REQUIRE(record);
    CHECK(std::memcmp(bytes.data(), &bytes[echo.half], echo.half) == 0);
  }
}

TEST_CASE("messages of all sizes arrive whole, at every window") {
  const std::vector<Bytes> sizes = {0_B, 1_B, 2_B, 3_B, 4095_B, 4096_B, 4097_B, 999'999_B, 4_MiB, 1_B, 0_B};
  for (const Bytes window : {0_B, 1_B, 5000_B, 100_MB}) check_echo(sizes, window, 3);
}

TEST_CASE("a message may be larger than what one system call moves") { check_echo({1_MiB * 1024}, 1_B, 1); }

TEST_CASE("a run that is stopped says why") {
  const Echo echo({1_MiB});
  ThreadWorld world(*echo.plan, pair());
  ThreadWorld::Settings settings;
  settings.drive.tick = []() -> Result<void> { return failure("it was stopped"); };
  const auto record = world.run({Policy::kFifo, 1_MB}, 1'000'000, settings);
  REQUIRE_FALSE(record);
  CHECK(record.error().text == "it was stopped");
}

}  // namespace
}  // namespace weir::real
