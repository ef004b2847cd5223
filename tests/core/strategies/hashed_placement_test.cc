// Compares placements by hash with the few lines in the systems' sources that define them.
#include "core/strategies/hashed_placement.h"

#include <map>
#include <numeric>

#include "core/strategies/summation.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

Cluster machines_with(int gpu_machines, int cpu_machines) {
  Topology topology = shipped_topology("one-gpu-90gbps");
  for (GroupSpec& group : topology.groups) group.count = gpu_count(group) > 0 ? gpu_machines : cpu_machines;
  return Cluster(topology);
}

Trace trace_of_elements(const std::vector<std::int64_t>& elements) {
  Trace trace;
  for (const std::int64_t count : elements)
    trace.layers.push_back({"", 1_ms, 1_ms, {{"w", count, Dtype::kF32}}});
  return trace;
}

std::uint64_t digits_hash(std::uint64_t key) {
  std::uint64_t hash = 5381;
  for (const char c : std::to_string(key)) hash = (hash << 5) + hash + static_cast<std::uint64_t>(c);
  return hash;
}

std::vector<double> loads(const std::vector<Assigned>& parts, std::size_t machines) {
  std::vector<double> loads(machines);
  for (const Assigned& part : parts)
    loads[part.owner.index()] += static_cast<double>(part.part.range.size.count());
  return loads;
}

TEST_CASE("BytePS's mixed mode follows the optimal split by slots, and loads its servers unevenly") {
  constexpr int kTensors = 40;
  constexpr std::int64_t kParts = 50;
  const Cluster cluster = machines_with(8, 4);
  const Trace trace = trace_of_elements(std::vector<std::int64_t>(kTensors, kParts * 1'000'000));
  const Workload workload(trace);
  const auto assigned = assign_as_byteps(cluster, workload, 4_MB, Summing::kOptimal);
  const std::vector<double> found = loads(assigned, 12);

  // In global.cc, 4 separate servers come first, then 8 colocated ones.
  std::vector<double> expected(12);
  const double ratio = 2.0 * 4 * 7 / (8 * 12 - 2 * 4);  // 0.636
  for (std::uint64_t tensor = 0; tensor < kTensors; ++tensor) {
    for (std::uint64_t part = 0; part < kParts; ++part) {
      const std::uint64_t slot = digits_hash((tensor << 16) + part) % 101;
      const bool separate = static_cast<double>(slot) < ratio * 101;
      expected[separate ? digits_hash(slot) % 4 : 4 + digits_hash(slot) % 8] += 4e6;
    }
  }
  double on_cpus = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(found[cluster.cpu_machines()[i].index()] == expected[i]);
    on_cpus += expected[i];
  }
  for (std::size_t i = 0; i < 8; ++i) CHECK(found[cluster.gpu_machines()[i].index()] == expected[4 + i]);

  const double total = std::accumulate(found.begin(), found.end(), 0.0);
  const double slots = 65;  // smallest number of slots that is at least 0.636 x 101
  CHECK(std::abs(on_cpus / total - slots / 101) < 0.03);
  const auto imbalance = [&](std::size_t first, std::size_t last) {
    const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = expected.begin() + static_cast<std::ptrdiff_t>(last);
    return *std::max_element(begin, end) * static_cast<double>(last - first) /
           std::accumulate(begin, end, 0.0);
  };
  CHECK(imbalance(0, 4) > 1.05);
  CHECK(imbalance(4, 12) > 1.05);
}

TEST_CASE("as many CPU machines as GPU machines sum alone, by the hash of keys") {
  constexpr int kTensors = 40;
  const Trace trace = trace_of_elements(std::vector<std::int64_t>(kTensors, 1'000'000));
  const Workload workload(trace);
  for (const auto& [gpus, cpus] : {std::pair(3, 3), std::pair(2, 5)}) {
    const Cluster cluster = machines_with(gpus, cpus);
    const auto servers = static_cast<std::size_t>(cpus);
    std::vector<double> expected(cluster.machines().size());
    for (std::uint64_t tensor = 0; tensor < kTensors; ++tensor)
      expected[cluster.cpu_machines()[digits_hash(tensor << 16) % servers].index()] += 4e6;
    for (const Summing summing : {Summing::kOptimal, Summing::kCpuMachines})
      CHECK(loads(assign_as_byteps(cluster, workload, 4_MB, summing), expected.size()) == expected);
  }
}

TEST_CASE("a GPU machine without a peer sums its own, whatever CPU machines there are") {
  const Trace trace = trace_of_elements({1'000'000, 1'000'000, 1'000'000});
  const Workload workload(trace);
  const Cluster cluster = machines_with(1, 2);
  for (const Assigned& one : assign_as_byteps(cluster, workload, 4_MB, Summing::kOptimal))
    CHECK(one.owner == cluster.gpu_machines()[0]);
}

TEST_CASE("MXNet cuts tensors of a million elements over all servers, and hashes whole ones to one") {
  const Cluster cluster = machines_with(2, 3);
  const Trace trace = trace_of_elements({10, 999'999, 1'000'000, 30});
  const Workload workload(trace);
  const std::vector<Assigned> parts = assign_as_mxnet(workload, mxnet_servers(cluster));
  const std::vector<MachineId>& servers = cluster.cpu_machines();
  REQUIRE(parts.size() == 6);  // from the last layer back
  CHECK(parts[0].owner == servers[3 * 9973 % 3]);
  for (std::size_t i = 0; i < 3; ++i) CHECK(parts[1 + i].owner == servers[i]);
  CHECK(parts[4].owner == servers[1 * 9973 % 3]);
  CHECK(parts[4].part.range.size == 3999996_B);
  CHECK(parts[5].owner == servers[0]);
  for (std::size_t i = 0; i < 3; ++i) CHECK(parts[1 + i].part.priority() == parts[1].part.priority());
  CHECK(mxnet_servers(machines_with(2, 0)).size() == 2);
}

TEST_CASE("MXNet sends a tensor once it is complete, and returns it to GPUs once all its pieces are back") {
  const Cluster cluster = machines_with(2, 3);
  const Trace trace = trace_of_elements({3'000'000});
  const Workload workload(trace);
  const Result<Plan> plan = mxnet_plan(cluster, workload, {});
  REQUIRE(plan);
  const auto bytes_of = [&](OpKind kind, MachineId machine) {
    std::vector<Bytes> sizes;
    for (const Op& op : plan->ops()) {
      if (op.kind != kind || op.machine != machine) continue;
      sizes.push_back(std::max(op.from.size, op.into.size));
    }
    return sizes;
  };
  for (const MachineId machine : cluster.gpu_machines()) {
    CHECK(bytes_of(OpKind::kCopy, machine) == std::vector<Bytes>{12_MB, 12_MB});  // out and in
    CHECK(bytes_of(OpKind::kSend, machine) == std::vector<Bytes>{4_MB, 4_MB, 4_MB});
  }
}

TEST_CASE("TensorFlow places whole tensors on one server after the other") {
  const Cluster cluster = machines_with(2, 3);
  const Trace trace = trace_of_elements({10, 20'000'000, 30, 40});
  const Workload workload(trace);
  const std::vector<Assigned> parts = assign_in_turn(workload, cluster.cpu_machines());
  REQUIRE(parts.size() == 4);  // from the last layer back
  for (std::size_t i = 0; i < 4; ++i) CHECK(parts[i].owner == cluster.cpu_machines()[(3 - i) % 3]);
  CHECK(parts[2].part.range.size == 80_MB);
}

}  // namespace
}  // namespace weir
