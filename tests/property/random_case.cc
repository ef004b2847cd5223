#include "tests/property/random_case.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/random.h"
#include "core/base/units_text.h"
#include "core/strategies/blocks/local_scheme.h"
#include "core/strategies/strategy.h"

namespace weir::property {
namespace {

class Dice {
 public:
  explicit Dice(Random random) : random_(random) {}

  std::int64_t between(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  bool chance(int percent) { return between(0, 99) < percent; }
  /// Draws small numbers as often as large ones.
  std::int64_t scaled(std::int64_t low, std::int64_t high) {
    const double octaves = std::log(static_cast<double>(high + 1) / static_cast<double>(low));
    const double value = static_cast<double>(low) * std::exp(random_.uniform() * octaves);
    return std::clamp(static_cast<std::int64_t>(value), low, high);
  }
  template <class T, std::size_t N>
  T of(const std::array<T, N>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(N) - 1))];
  }
  BytesPerSecond rate() { return BytesPerSecond(scaled(10'000'000, 20'000'000'000)); }
  BytesPerSecond rate_or_none(int percent_none) {
    return chance(percent_none) ? BytesPerSecond::unlimited() : rate();
  }
  Rates rates(int percent_none) {
    const BytesPerSecond in = rate_or_none(percent_none);
    return {in, chance(70) ? in : rate_or_none(percent_none)};
  }
  Duration latency() { return chance(50) ? Duration(0) : Duration(scaled(1, 20'000)); }
  std::string place(int numas, int switches) {
    if (switches > 0 && chance(60)) return fmt::format("p{}", between(0, switches - 1));
    return fmt::format("numa{}", between(0, numas - 1));
  }

 private:
  Random random_;
};

GroupSpec machine_group(Dice& dice, const std::string& name, int count, int gpus) {
  GroupSpec group;
  group.name = name;
  group.count = count;
  const auto numas = static_cast<int>(dice.between(1, 2));
  group.numa.assign(static_cast<std::size_t>(numas), NumaSpec{});
  for (NumaSpec& numa : group.numa) {
    numa.memory_rate = dice.rate_or_none(50);
    numa.sum_rate.other = dice.rate_or_none(40);
    if (dice.chance(20)) numa.sum_rate.by_dtype[Dtype::kF32] = dice.rate();
  }
  if (numas == 2) group.sockets.push_back({{0, 1}, dice.rates(30), dice.latency()});
  const auto switches = static_cast<int>(dice.between(0, 2));
  for (int i = 0; i < switches; ++i) {
    const bool below = i == 1 && dice.chance(30);
    group.switches.push_back({.name = fmt::format("p{}", i),
                              .at = below ? "p0" : fmt::format("numa{}", dice.between(0, numas - 1)),
                              .rate = dice.rates(20),
                              .peer_rate = dice.rates(60),
                              .latency = dice.latency()});
  }
  for (int i = 0; i < gpus; ++i) {
    group.gpus.push_back({.at = dice.place(numas, switches),
                          .rate = dice.rates(20),
                          .latency = dice.latency(),
                          .speed = dice.chance(80) ? 1.0 : static_cast<double>(dice.between(2, 9)) / 4.0,
                          .sum_rate = dice.rate_or_none(50)});
  }
  if (gpus > 1 && dice.chance(40)) {
    group.nvlink.emplace();
    if (dice.chance(60)) {
      group.nvlink->crossbar = NvlinkSwitchSpec{dice.rates(10), dice.latency()};
    } else {
      for (int i = 0; i + 1 < gpus; ++i) {
        group.nvlink->pairs.push_back({{i, i + 1}, dice.rates(10), dice.latency()});
      }
    }
  }
  const auto nics = static_cast<int>(dice.between(1, 2));
  for (int i = 0; i < nics; ++i) {
    group.nics.push_back({.at = dice.place(numas, switches),
                          .rate = dice.rates(8),
                          .latency = dice.latency(),
                          .pcie = dice.chance(30) ? dice.rates(20) : Rates{}});
  }
  return group;
}

Topology random_topology(Dice& dice, std::uint64_t seed) {
  Topology topology;
  topology.name = fmt::format("random {}", seed);
  auto gpu_machines = static_cast<int>(dice.between(1, 6));
  auto cpu_machines = static_cast<int>(dice.between(0, 4));
  // Some machines are equal, some differ: a few groups of each kind.
  const auto gpus = static_cast<int>(dice.scaled(1, 4));
  const bool alike = dice.chance(70);
  for (int group = 0; gpu_machines > 0; ++group) {
    const auto count = static_cast<int>(dice.between(1, gpu_machines));
    gpu_machines -= count;
    const int here = alike ? gpus : static_cast<int>(dice.scaled(1, 4));
    topology.groups.push_back(machine_group(dice, fmt::format("gpu{}", group), count, here));
  }
  for (int group = 0; cpu_machines > 0; ++group) {
    const auto count = static_cast<int>(dice.between(1, cpu_machines));
    cpu_machines -= count;
    topology.groups.push_back(machine_group(dice, fmt::format("cpu{}", group), count, 0));
  }
  // Machines without GPUs come first, last or in between.
  for (std::size_t i = topology.groups.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(i) - 1));
    std::swap(topology.groups[i - 1], topology.groups[other]);
  }
  topology.network.latency = dice.latency();
  if (dice.chance(30)) {
    RacksSpec racks;
    racks.size = static_cast<int>(dice.between(1, 4));
    racks.latency = dice.latency();
    racks.placement = dice.chance(50) ? RacksSpec::Placement::kPacked : RacksSpec::Placement::kSpread;
    racks.uplink = dice.rates(10);
    topology.network.racks = racks;
  }
  return topology;
}

// Sets the number of summing threads on some NUMA nodes. On others, memory is about as fast as sums need.
void add_cores(Dice& dice, Topology& topology) {
  for (GroupSpec& group : topology.groups) {
    for (NumaSpec& numa : group.numa) {
      if (dice.chance(25)) {
        numa.sum_threads = static_cast<int>(dice.between(1, 8));
        numa.sum_rate_per_thread.other = dice.rate();
        if (dice.chance(30)) numa.sum_rate_per_thread.by_dtype[Dtype::kF16] = dice.rate();
      }
      const BytesPerSecond rate = sum_rates(numa).other;
      if (rate.limited() && dice.chance(40))
        numa.memory_rate = BytesPerSecond(rate.value() / 2 * dice.between(2, 10));
    }
  }
}

Trace random_trace(Dice& dice, std::uint64_t seed) {
  constexpr std::array kDtypes = {Dtype::kF16, Dtype::kBf16, Dtype::kF32,
                                  Dtype::kF64, Dtype::kI32,  Dtype::kI64};
  Trace trace;
  trace.name = fmt::format("random {}", seed);
  const std::int64_t layers = dice.between(1, 6);
  const bool mixed = dice.chance(50);
  const bool instant = dice.chance(20);
  const Dtype common = dice.of(kDtypes);
  const auto time = [&] {
    return instant || dice.chance(15) ? Duration(0) : Duration(dice.scaled(1'000, 2'000'000));
  };
  for (std::int64_t l = 0; l < layers; ++l) {
    Layer layer{fmt::format("layer{}", l), time(), time(), {}};
    const std::int64_t tensors = dice.between(0, 4);
    for (std::int64_t t = 0; t < tensors; ++t) {
      layer.tensors.push_back(
          {fmt::format("tensor{}.{}", l, t), dice.scaled(1, 20'000), mixed ? dice.of(kDtypes) : common});
    }
    trace.layers.push_back(std::move(layer));
  }
  return trace;
}

LocalStage random_local(Dice& dice, const Cluster& cluster) {
  std::vector<LocalStage> stages = {LocalStage::kAuto, LocalStage::kReduceScatter, LocalStage::kReduce,
                                    LocalStage::kReduceInTurn, LocalStage::kCpuAssisted};
  const bool direct = std::all_of(
      cluster.gpu_machines().begin(), cluster.gpu_machines().end(),
      [&](MachineId machine) { return check_local(cluster, machine, LocalStage::kGpuDirect).has_value(); });
  if (direct) stages.insert(stages.end(), 3, LocalStage::kGpuDirect);
  return stages[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(stages.size()) - 1))];
}

Options random_options(Dice& dice, const Cluster& cluster, Bytes model) {
  // Sizes that cut the model into one part or a few dozen; sometimes larger than any tensor.
  const auto cut = [&](std::int64_t most) { return std::max(Bytes(1), model / dice.scaled(1, most)); };
  Options options;
  options.partition_size = cut(16);
  options.finest_part = dice.chance(30) ? options.partition_size : cut(24);
  options.fusion_size = cut(4);
  options.credit.reset();
  if (dice.chance(80)) options.credit = static_cast<int>(dice.between(1, 16));
  options.policy = dice.chance(50) ? Policy::kFifo : Policy::kPriority;
  options.local = random_local(dice, cluster);
  if (dice.chance(30)) options.brute_force = 0.1 * static_cast<double>(dice.between(1, 10));
  options.overlap = !dice.chance(20);
  options.barrier = dice.chance(25);
  if (dice.chance(30)) options.allreduce_efficiency = 0.05 * static_cast<double>(dice.between(1, 20));
  if (dice.chance(30)) options.part_overhead = Duration(dice.scaled(1, 300'000));
  if (dice.chance(50)) options.collective = Collective::kHierarchical;
  if (dice.chance(30)) options.placement = PartPlacement::kHash;
  options.bucket_size = cut(4);
  options.fusion_buffer = cut(4);
  options.cycle_time = dice.chance(20) ? Duration(0) : Duration(dice.scaled(1'000, 5'000'000));
  options.pull_requests = dice.chance(20);
  if (dice.chance(40)) options.numa = dice.chance(50) ? NumaPlacement::kFar : NumaPlacement::kSpread;
  if (dice.chance(30)) options.sum_order = SumOrder::kPlan;
  if (dice.chance(50)) {
    options.optimizer =
        dice.of(std::array{Optimizer::kSgd, Optimizer::kMomentum, Optimizer::kRmsprop, Optimizer::kAdam});
  }
  options.independent_layers = dice.chance(15);
  return options;
}

}  // namespace

Case random_case(std::uint64_t seed) {
  const Random random(seed);
  Dice topology(random.split(0));
  Dice trace(random.split(1));
  Dice options(random.split(2));
  Dice cores(random.split(3));
  Case result;
  result.seed = seed;
  result.topology = random_topology(topology, seed);
  add_cores(cores, result.topology);
  result.trace = random_trace(trace, seed);
  result.options = random_options(options, Cluster(result.topology), size(result.trace));
  Dice servers(random.split(5));
  if (servers.chance(20)) result.options.placement = PartPlacement::kInTurn;
  if (servers.chance(20)) result.options.local = LocalStage::kApart;
  if (servers.chance(20)) result.options.update_barrier = true;
  Dice collective(random.split(4));
  if (collective.chance(33)) result.options.collective = Collective::kNccl;
  return result;
}

Case case_for(const Case& random, std::string_view strategy) {
  Case taken = random;
  const Strategy& row = **strategy_named(strategy);
  if (!row.updates) taken.options.optimizer = Optimizer::kNone;
  if (!row.cannot_train.empty()) taken.options.independent_layers = false;
  // Options that only servers support.
  Options& options = taken.options;
  if (strategy != "ps") options.update_barrier = false;
  if (strategy != "ps" && options.local == LocalStage::kApart) options.local = LocalStage::kAuto;
  if (strategy == "unified" && options.placement == PartPlacement::kInTurn)
    options.placement = PartPlacement::kBalanced;
  return taken;
}

std::string text(const Case& random) {
  const Options& options = random.options;
  std::string machines;
  for (const GroupSpec& group : random.topology.groups) {
    machines += fmt::format(" {} of {} GPUs and {} NICs,", group.count, gpu_count(group), nic_count(group));
  }
  return fmt::format(
      "random_case({}): machines:{} {} layers, {}; parts of {} to {}, buckets of {}, {} and {}, credit {}, "
      "{}, "
      "{}, brute force {}, {} placement, numa {}, optimizer {}, efficiency {}, overhead {}, cycle {}, "
      "{}{}{}{}{}{}{}",
      random.seed, machines, random.trace.layers.size(), rounded(size(random.trace)),
      text(options.finest_part), text(options.partition_size), text(options.fusion_size),
      text(options.bucket_size), text(options.fusion_buffer),
      options.credit ? fmt::format("{}", *options.credit) : "unlimited",
      options.policy == Policy::kFifo ? "first come" : "priority", enum_name(options.local),
      options.brute_force, enum_name(options.placement), static_cast<int>(options.numa),
      static_cast<int>(options.optimizer), options.allreduce_efficiency, text(options.part_overhead),
      text(options.cycle_time), enum_name(options.collective),
      options.sum_order == SumOrder::kPlan ? ", sums in order" : "",
      options.update_barrier ? ", update barrier" : "", options.pull_requests ? ", requests" : "",
      options.barrier ? ", barrier" : "", options.overlap ? "" : ", no overlap",
      options.independent_layers ? ", independent layers" : "");
}

}  // namespace weir::property
