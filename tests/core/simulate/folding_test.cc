#include "core/simulate/folding.h"

#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/simulation.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

template <class T>
T good(Result<T> result) {
  if (!result) FAIL(result.error().text);
  return std::move(*result);
}

// Layers with these numbers of f32 elements.
Trace trace_of(const std::vector<std::int64_t>& elements) {
  Trace trace = good(read_trace(std::string(WEIR_SOURCE_DIR) + "/traces/three-layers.json"));
  const Layer layer = trace.layers.at(0);
  trace.layers.clear();
  for (const std::int64_t each : elements) {
    trace.layers.push_back(layer);
    trace.layers.back().name = fmt::format("layer{}", trace.layers.size());
    trace.layers.back().tensors = {{trace.layers.back().name + ".weight", each, Dtype::kF32}};
  }
  return trace;
}

Topology topology_of(const std::string& name, int machines) {
  Topology topology = good(read_topology(fmt::format("{}/topologies/{}.json", WEIR_SOURCE_DIR, name)));
  topology.groups[0].count = machines;
  return topology;
}

constexpr int kIterations = 3;

// The largest difference in nanoseconds between the folded run and the whole run; none if folding is
// impossible.
std::optional<std::int64_t> difference(const Cluster& cluster, const Plan& plan, const Dispatch& dispatch,
                                       const Model& model, const Conditions& conditions = {}) {
  const WorkTable works(plan, cluster, model.collectives);
  const Subcluster all(cluster);
  const Job job{plan, all, dispatch, model, {}, &works};
  const auto folded = simulate_folded(cluster, job, kIterations, conditions);
  if (!folded) return std::nullopt;
  FluidEngine engine(plan, cluster);
  const SharedRun whole = good(simulate(cluster, {&job, 1}, kIterations, conditions, engine));
  std::int64_t most = 0;
  for (int i = 0; i < kIterations; ++i) {
    for (const Op& op : plan.ops()) {
      const OpRecord& a = folded->record.of(op.id, i);
      const OpRecord& b = whole.record.of(op.id, i);
      for (const Duration apart :
           {a.submitted - b.submitted, a.started - b.started, a.completed - b.completed})
        most = std::max(most, std::abs(apart.ns()));
    }
  }
  return most;
}

struct Training {
  Training(const std::string& topology, int machines, const std::string& strategy, const Trace& of)
      : Training(topology_of(topology, machines), strategy, of, LocalStage::kReduce) {}
  Training(const Topology& topology, const std::string& strategy, const Trace& of, LocalStage local)
      : trace(of) {
    cluster.emplace(topology);
    workload.emplace(trace);
    options.local = local;
    const Strategy& with = *good(strategy_named(strategy));
    plan = good(with.plan(*cluster, *workload, options));
    dispatch = dispatch_of(with, options);
  }

  // Whether the run can be folded. If so, checks that it equals the whole run.
  bool folds(const Model& model = {}, const Conditions& conditions = {}) const {
    const auto apart = difference(*cluster, plan, dispatch, model, conditions);
    CHECK(apart.value_or(0) == 0);
    return apart.has_value();
  }

  Trace trace;
  std::optional<Cluster> cluster;
  std::optional<Workload> workload;
  Options options;
  Plan plan;
  Dispatch dispatch;
};

const std::vector<std::int64_t> kEven = {1 << 20, 3 << 16, 1 << 22, 1 << 18};

TEST_CASE("rings of machines that all do the same are folded, and give the times of the whole run") {
  for (const char* topology : {"byteps-v100-nvlink", "byteps-v100-pcie", "one-gpu-90gbps"}) {
    for (const char* strategy : {"ring", "flat-ring"}) {
      for (const int machines : {2, 3, 4, 8}) {
        INFO(topology << ' ' << strategy << ' ' << machines);
        const std::vector<std::int64_t> thirds = {3 << 18, 3 << 16};
        CHECK(Training(topology, machines, strategy, trace_of(machines == 3 ? thirds : kEven)).folds());
      }
    }
  }
}

TEST_CASE("machines that do not all do the same are not folded") {
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "unified", trace_of(kEven)).folds());
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "ps", trace_of(kEven)).folds());
  CHECK_FALSE(Training("byteps-v100-nvlink", 8, "double-tree", trace_of(kEven)).folds());
  CHECK_FALSE(Training("racks-oversubscribed", 32, "ring", trace_of(kEven)).folds());
  // Chunks of a tensor whose size the number of machines does not divide.
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "ring", trace_of({1 << 20, (1 << 20) + 1})).folds());
}

TEST_CASE("where the order of ids decides between machines' ops, the whole is simulated") {
  const Training training("byteps-v100-nvlink", 4, "hierarchical", trace_of(kEven));
  const WorkTable works(training.plan, *training.cluster);
  CHECK(fold(training.plan, *training.cluster, works).has_value());
  CHECK_FALSE(training.folds());
}

// At some rates, the folded run and the whole run disagree on whether memory can be a bottleneck. Sums may or
// may not last whole nanoseconds.
TEST_CASE("where sums are timers in one run and flows in the other, the whole is simulated") {
  int folded = 0;
  int whole = 0;
  for (const std::int64_t rate : {100, 128, 132, 136, 140, 200}) {
    INFO(rate);
    Topology topology = topology_of("byteps-v100-nvlink", 4);
    for (NumaSpec& numa : topology.groups[0].numa) numa.memory_rate = BytesPerSecond(rate * 1'000'000'000);
    const Training training(topology, "ring", trace_of(kEven), LocalStage::kGpuDirect);
    ++(training.folds() ? folded : whole);
  }
  CHECK(folded > 0);
  CHECK(whole > 0);
}

// A random plan in which all machines do the same.
class Symmetric {
 public:
  Symmetric(const Cluster& cluster, std::uint64_t seed)
      : random_(seed), machines_(cluster.gpu_machines()), builder_("symmetric", cluster.machines().size()) {
    const Machine& machine = cluster.machine(machines_.front());
    for (const MachineId id : machines_) {
      host_.push_back(builder_.add(
          Buffer{id, Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, Bytes(std::int64_t{1} << 40)}));
      gpus_.push_back(
          builder_.add(Buffer{id, Buffer::Role::kGradient, Memory::Kind::kGpu, 0,
                              static_cast<int>(machine.gpus.size()), Bytes(std::int64_t{1} << 40)}));
    }
    const int count = 3 + some(40);
    for (int i = 0; i < count; ++i) add(static_cast<int>(machine.nics.size()));
  }

  Plan build() && { return std::move(builder_).build(); }

 private:
  int some(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  // Adds one op on each machine, or a message from each to the machine a fixed distance ahead. The new ops
  // wait for some earlier ones.
  void add(int nics) {
    const std::size_t n = machines_.size();
    const int kind = some(10);
    Op op;
    op.dtype = Dtype::kF32;
    op.priority = some(10'000);
    op.layer = some(5);
    const Slice slice{{}, 0, Bytes(0), Bytes(4 * std::int64_t{1 + some(1'000'000)})};
    std::vector<OpId> ids;
    std::vector<OpId> received(kind < 5 ? n : 0);
    if (kind < 5) {
      const auto far = static_cast<std::size_t>(some(static_cast<int>(n)));
      op.nic = some(nics);
      const bool from_gpu = some(2) == 0;
      const bool into_gpu = some(2) == 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t j = (i + far) % n;
        op.message = builder_.add_message();
        op.kind = OpKind::kSend;
        op.machine = machines_[i];
        op.peer = machines_[j];
        op.into = {};
        op.from = slice;
        op.from.buffer = from_gpu ? gpus_[i] : host_[i];
        ids.push_back(builder_.add(op));
        op.kind = OpKind::kReceive;
        std::swap(op.machine, op.peer);
        op.into = std::exchange(op.from, {});
        op.into.buffer = into_gpu ? gpus_[j] : host_[j];
        received[j] = builder_.add(op);
      }
    } else {
      op.duration = Duration(some(1'000'000));
      for (std::size_t i = 0; i < n; ++i) {
        op.machine = machines_[i];
        op.kind = kind < 8 ? OpKind::kSum : kind == 8 ? OpKind::kBackward : OpKind::kHold;
        if (op.kind == OpKind::kSum) {
          op.duration = {};
          op.from = op.into = slice;
          op.from.buffer = op.into.buffer = host_[i];
        }
        ids.push_back(builder_.add(op));
      }
    }
    for (int edges = made_.empty() ? 0 : some(4); edges > 0; --edges) {
      const auto& before = made_[static_cast<std::size_t>(some(static_cast<int>(made_.size())))];
      const auto& after = received.empty() || some(2) == 0 ? ids : received;
      for (std::size_t i = 0; i < n; ++i) builder_.order(before[i], after[i]);
    }
    made_.push_back(ids);
    if (!received.empty()) made_.push_back(received);
  }

  std::mt19937_64 random_;
  std::vector<MachineId> machines_;
  PlanBuilder builder_;
  std::vector<BufferId> host_;  // for each machine
  std::vector<BufferId> gpus_;
  std::vector<std::vector<OpId>> made_;  // groups of ops, one for each machine
};

TEST_CASE("whatever machines that all do the same do, the folded run equals the whole run to a nanosecond") {
  int folded = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    INFO(seed);
    std::mt19937_64 random(seed);
    const char* name = random() % 2 == 0 ? "one-gpu-90gbps" : "byteps-v100-nvlink";
    Topology topology = topology_of(name, static_cast<int>(2 + random() % 5));
    for (NumaSpec& numa : topology.groups[0].numa)
      numa.memory_rate = BytesPerSecond(static_cast<std::int64_t>(20 + random() % 150) * 1'000'000'000);
    const Cluster cluster(topology);
    const Plan plan = Symmetric(cluster, seed).build();
    const Dispatch dispatch{random() % 3 == 0 ? Policy::kFifo : Policy::kPriority,
                            random() % 2 == 0 ? 0_B : 8_MB};
    const auto apart = difference(cluster, plan, dispatch, {});
    CHECK(apart.value_or(0) <= 1);
    folded += apart ? 1 : 0;
  }
  CHECK(folded > 300);
}

TEST_CASE("machines that differ while they run are not folded") {
  const Training training("one-gpu-90gbps", 4, "ring", trace_of(kEven));
  CHECK(training.folds());
  Model model;
  model.compute_jitter = 0.1;
  CHECK_FALSE(training.folds(model));
  Conditions conditions;
  conditions.stragglers.push_back({"gpu[1]", 1.5, 0.0});
  CHECK_FALSE(training.folds({}, conditions));
}

TEST_CASE("a plan with one edge less on one machine is not folded") {
  Training training("one-gpu-90gbps", 4, "ring", trace_of(kEven));
  const WorkTable works(training.plan, *training.cluster);
  CHECK(fold(training.plan, *training.cluster, works).has_value());
  PlanBuilder builder(training.plan.strategy(), training.plan.machines());
  for (const Buffer& buffer : training.plan.buffers()) builder.add(buffer);
  for (const std::vector<int>& group : training.plan.groups()) builder.group(group);
  for (std::size_t i = 0; i < training.plan.messages().size(); ++i) builder.add_message();
  for (const Op& op : training.plan.ops()) builder.add(op);
  bool left_out = false;
  for (const Op& op : training.plan.ops()) {
    for (const Successor next : training.plan.successors(op.id)) {
      const OpId after(static_cast<std::size_t>(next.op));
      if (next.carried != 0) {
        builder.carry(op.id, after);
      } else if (left_out || op.machine != MachineId(2) || op.kind != OpKind::kReceive) {
        builder.order(op.id, after);
      } else {
        left_out = true;
      }
    }
  }
  REQUIRE(left_out);
  const Plan broken = std::move(builder).build();
  const WorkTable broken_works(broken, *training.cluster);
  CHECK_FALSE(fold(broken, *training.cluster, broken_works).has_value());
}

}  // namespace
}  // namespace weir
