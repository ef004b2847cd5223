#include "tests/backends/real/compute/ordered_sums.h"

#include <cmath>
#include <cstring>
#include <thread>

#include "core/base/random.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

constexpr std::size_t kWorkers = 5;
constexpr std::int64_t kElements = 40'000;

// Writes each worker's gradient, a mix of large and small numbers whose sum depends on the order. Pauses for
// another time in each run.
void backward(ThreadWorld& world, const Op& op, std::uint64_t run) {
  const auto bytes =
      world.buffers(op.machine).bytes(Extent{op.into.buffer, 0, {op.into.offset, op.into.size}});
  Random values(op.machine.index());
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    const auto value = static_cast<float>(std::pow(10.0, 16.0 * values.uniform() - 8.0));
    std::memcpy(&bytes[at], &value, 4);
  }
  Random pauses(run * kWorkers + op.machine.index());
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int>(3000 * pauses.uniform())));
}

}  // namespace

std::vector<std::vector<std::byte>> ordered_sums(const std::string& strategy, std::uint64_t run,
                                                 ThreadWorld::Settings settings) {
  const Cluster cluster = cluster_of(R"({"name": "five", "groups": [
    {"name": "gpu", "count": 5, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  Trace trace;
  trace.name = "net";
  trace.layers.push_back({"all", Duration(1000), Duration(1000), {{"w", kElements, Dtype::kF32}}});
  const Workload workload(trace);
  Options options;
  options.sum_order = SumOrder::kPlan;
  options.partition_size = options.finest_part = Bytes(16'384);
  const auto plan = strategy_named(strategy).value()->plan(cluster, workload, options);
  REQUIRE(plan);
  ThreadWorld world(*plan, cluster);
  settings.compute = [&](const Op& op, std::uint64_t) {
    if (op.kind == OpKind::kBackward) backward(world, op, run);
  };
  const auto record = world.run({Policy::kPriority, Bytes(65'536)}, 1, settings);
  INFO((record ? std::string() : record.error().text));
  REQUIRE(record);
  std::vector<std::vector<std::byte>> sums;
  for (const Buffer& buffer : plan->buffers()) {
    if (buffer.role != Buffer::Role::kGradient) continue;
    const auto id = BufferId(static_cast<std::size_t>(&buffer - plan->buffers().data()));
    const auto bytes = world.buffers(buffer.machine).bytes(Extent{id, 0, {Bytes(0), buffer.size}});
    sums.emplace_back(bytes.begin(), bytes.end());
  }
  return sums;
}

}  // namespace weir::real
