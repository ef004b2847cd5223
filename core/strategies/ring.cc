#include "core/strategies/ring.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/analysis/local_choice.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/blocks/slots.h"

namespace weir {
namespace {

// How many buckets may be under way at once, by default; each has its own landing memory.
constexpr std::size_t kRingBuckets = 4;

enum class Where { kHost, kGpus };

class MachineRingBuilder {
 public:
  MachineRingBuilder(const Cluster& cluster, const Workload& workload, const Options& options,
                     const LocalStageOf& stages, const Buckets& buckets, Where where)
      : cluster_(cluster),
        where_(where),
        plan_(buckets.strategy, cluster.machines().size()),
        local_(cluster, workload, options, stages, plan_),
        nics_(cluster),
        buckets_(buckets.parts()),
        apart_(options.independent_layers),
        landing_count_(apart_                ? buckets_.size()
                       : buckets.landing > 0 ? buckets.landing
                                             : kRingBuckets),
        machines_(cluster.gpu_machines()),
        count_(static_cast<int>(machines_.size())),
        order_(service_order(workload, buckets_, options, all_reduce_time(cluster, workload, options))),
        releases_(buckets, order_, local_, plan_) {
    plan_.set_message_efficiency(options.allreduce_efficiency);
  }

  Plan build() && {
    for (std::size_t i = 0; i < order_.size(); ++i) exchange(buckets_[order_[i]], i);
    for (const auto& [key, landing] : landings_) landing.close(plan_);
    local_.close();
    return std::move(plan_).build();
  }

 private:
  // One machine in the exchange of one bucket. Steps count from 0. A chunk is named by the machine that it
  // ends on.
  struct Member {
    MachineId machine;
    int nic = 0;
    LocalWay way;                // if chunks go through host memory
    OpId released;               // if not: the op after which the bucket may start
    Slice bucket;                // in staging or gradient memory
    std::vector<OpId> ready;     // by chunk: the op after which the machine's own sum is there
    std::vector<OpId> sent;      // by step of the first round
    std::vector<OpId> summed;    // by step of the first round
    std::vector<OpId> received;  // by step of the second round
    std::vector<OpId> spread;    // by step of the second round: sends
  };

  int chunk(int index) const { return (index % count_ + count_) % count_; }

  Range range(const Part& bucket, int index) const {
    return share(bucket.range, bucket.dtype, chunk(index), count_);
  }

  Slice slice(const Member& member, const Part& bucket, int index) const {
    const Range chunk_range = range(bucket, index);
    Slice slice = member.bucket;
    slice.offset += chunk_range.offset - bucket.range.offset;
    slice.size = chunk_range.size;
    return slice;
  }

  Part part(const Part& bucket, int index) const {
    Part part = bucket;
    part.range = range(bucket, index);
    return part;
  }

  Member begin(std::size_t position, const Part& bucket, std::size_t b) {
    Member member;
    member.machine = machines_[position];
    member.nic = nics_.take(member.machine, bucket.range.size);
    if (where_ == Where::kHost) {
      member.way = local_.out(member.machine, bucket, member.nic);
      member.bucket = member.way.staging;
      member.ready.assign(static_cast<std::size_t>(count_), member.way.ready);
      return member;
    }
    member.bucket = {local_.gradient(member.machine), on_gpus(member.machine), bucket.range.offset,
                     bucket.range.size};
    member.released = releases_.release(member.machine, b);
    for (int c = 0; c < count_; ++c)
      member.ready.push_back(collective(member, bucket, c, OpKind::kReduceScatter));
    return member;
  }

  // Where a chunk lies: each GPU has a shard of it.
  Replicas on_gpus(MachineId machine) const {
    return cluster_.machine(machine).gpus.size() > 1 ? Replicas::shards(local_.all_gpus(machine)) : 0;
  }

  // Adds the reduce-scatter or all-gather of one chunk; a single GPU needs neither.
  OpId collective(const Member& member, const Part& bucket, int index, OpKind kind) {
    const bool out = traits(kind).adds_up;
    if (range(bucket, index).size == Bytes(0)) return OpId::none();
    if (on_gpus(member.machine).single()) return out ? member.released : OpId::none();
    Op op = op_for(bucket, member.machine, kind);
    op.into = slice(member, bucket, index);
    op.into.on = Replicas::each(local_.all_gpus(member.machine));
    const OpId id = plan_.add(op);
    if (out) plan_.order(member.released, id);
    return id;
  }

  // Where messages of a bucket land on one machine, one slot a step. Bucket b + landing_count_ lands where
  // bucket b did.
  Slots& landing(const Member& member, std::size_t position, std::size_t b) {
    const bool host = where_ == Where::kHost;
    const int numa = host ? plan_.buffer(member.bucket.buffer).numa : 0;
    const std::tuple key(position, b % landing_count_, numa);
    const auto known = landings_.find(key);
    if (known != landings_.end()) return known->second;
    Bytes largest;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (apart_ && i != b) continue;
      for (int c = 0; c < count_; ++c) largest = std::max(largest, range(buckets_[order_[i]], c).size);
    }
    const auto gpus = static_cast<int>(cluster_.machine(member.machine).gpus.size());
    const BufferId buffer =
        plan_.add({member.machine, Buffer::Role::kScratch, host ? Memory::Kind::kHost : Memory::Kind::kGpu,
                   numa, host ? 1 : gpus, Bytes(0)});
    return landings_.emplace(key, Slots(plan_, buffer, static_cast<std::size_t>(count_ - 1), largest))
        .first->second;
  }

  void exchange(const Part& bucket, std::size_t b) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < machines_.size(); ++i) members.push_back(begin(i, bucket, b));
    for (int step = 0; step + 1 < count_; ++step) {
      for (int i = 0; i < count_; ++i) sum_step(members, i, step, bucket, b);
    }
    for (int step = 0; step + 1 < count_; ++step) {
      for (int i = 0; i < count_; ++i) spread_step(members, i, step, bucket);
    }
    for (const Member& member : members) finish(member, bucket, b);
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // Machine i sends chunk i - step to its neighbour, which adds it to its own chunk.
  void sum_step(std::vector<Member>& members, int i, int step, const Part& bucket, std::size_t b) {
    Member& source = members[at(i)];
    Member& target = members[at(chunk(i + 1))];
    const int index = chunk(i - step);
    const Part piece = part(bucket, index);
    if (piece.range.size == Bytes(0)) {  // fewer elements than machines
      source.sent.push_back(OpId::none());
      target.summed.push_back(OpId::none());
      return;
    }
    Slots& slots = landing(target, at(chunk(i + 1)), b);
    Slice landed = slots.slice(at(step), piece.range.size);
    landed.on = target.bucket.on;
    const Message message =
        add_message(plan_, piece, {source.machine, source.nic, slice(source, bucket, index)},
                    {target.machine, target.nic, landed});
    const OpId sum = add_sum(plan_, piece, target.machine, landed, slice(target, bucket, index));
    plan_.order(step == 0 ? source.ready[at(index)] : source.summed[at(step - 1)], message.send);
    plan_.order(target.ready[at(index)], sum);
    slots.use(plan_, at(step), message.receive, sum);
    source.sent.push_back(message.send);
    target.summed.push_back(sum);
  }

  // Machine i sends chunk i + 1 - step, which is complete there, on to its neighbour.
  void spread_step(std::vector<Member>& members, int i, int step, const Part& bucket) {
    Member& source = members[at(i)];
    Member& target = members[at(chunk(i + 1))];
    const int index = chunk(i + 1 - step);
    const Part piece = part(bucket, index);
    if (piece.range.size == Bytes(0)) {
      target.received.push_back(OpId::none());
      source.spread.push_back(OpId::none());
      return;
    }
    const Message message =
        add_message(plan_, piece, {source.machine, source.nic, slice(source, bucket, index)},
                    {target.machine, target.nic, slice(target, bucket, index)});
    plan_.order(step == 0 ? source.summed[at(count_ - 2)] : source.received[at(step - 1)], message.send);
    plan_.order(target.sent[at(step)], message.receive);
    target.received.push_back(message.receive);
    source.spread.push_back(message.send);
  }

  void finish(const Member& member, const Part& bucket, std::size_t b) {
    // The next iteration must not overwrite bytes that are still being sent on.
    const OpId overwrites =
        where_ == Where::kHost ? member.way.begun : local_.backward(member.machine, bucket.last_layer);
    for (const OpId send : member.spread) plan_.carry(send, overwrites);
    if (where_ == Where::kHost) {
      std::vector<OpId> after = member.received;
      after.push_back(count_ > 1 ? member.summed.back() : member.ready.front());
      return local_.in(member.way, bucket, after);
    }
    const int position =
        static_cast<int>(std::find(machines_.begin(), machines_.end(), member.machine) - machines_.begin());
    std::vector<OpId> all;
    for (int c = 0; c < count_; ++c) {
      // The machine's own chunk was complete with the last sum; chunk position - s arrived in step s.
      const int step = chunk(position - c);
      const OpId done = count_ == 1                ? member.ready.front()
                        : c == chunk(position + 1) ? member.summed.back()
                                                   : member.received[at(step)];
      const OpId gather = collective(member, bucket, c, OpKind::kAllGather);
      if (gather.valid()) {
        plan_.order(done, gather);
        // The gather writes on every GPU, so it waits until the chunk has been sent on.
        const int sent = chunk(position + 1 - c);
        if (sent < count_ - 1) plan_.order(member.spread[at(sent)], gather);
      }
      all.push_back(gather.valid() ? gather : done);
      local_.needed(member.machine, bucket, all.back());
    }
    releases_.done(member.machine, b, all);
  }

  const Cluster& cluster_;
  Where where_;
  PlanBuilder plan_;
  LocalStages local_;
  NicTurns nics_;
  std::vector<Part> buckets_;
  bool apart_;  // whether no bucket may wait for another
  std::size_t landing_count_;
  const std::vector<MachineId>& machines_;
  int count_;
  std::vector<std::size_t> order_;  // the order in which buckets are expected to be served
  Releases releases_;
  std::map<std::tuple<std::size_t, std::size_t, int>, Slots>
      landings_;  // by position, bucket modulo landing_count_, NUMA node
};

// Each machine may also reduce and spread a chunk.
constexpr double kOpsPerLocalChunk = kOpsPerChunk + 2;

Result<Plan> hierarchical(const Cluster& cluster, const Workload& workload, const Options& options) {
  return hierarchical_plan(cluster, workload, options,
                           fused_buckets(std::string(hierarchical_strategy().name), workload, options));
}

double ring_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return kOpsPerChunk * std::pow(gpu_machine_count(cluster), 2) * fused_pieces(workload, options);
}

double fused_hierarchical_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return hierarchical_ops(cluster, fused_pieces(workload, options));
}

}  // namespace

Result<Plan> ring_plan(const Cluster& cluster, const Workload& workload, const Options& options) {
  const auto local = conventional_local(cluster, most_common_dtype(workload.trace()), options);
  if (!local) return failure(local.error().text);
  const Buckets buckets = fused_buckets(std::string(ring_strategy().name), workload, options);
  return MachineRingBuilder(cluster, workload, options, local->stages, buckets, Where::kHost).build();
}

Result<Plan> ring_of_tensors_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                                  const Buckets& buckets) {
  for (const MachineId machine : cluster.gpu_machines()) {
    if (cluster.machine(machine).gpus.size() == 1) continue;
    return failure(
        fmt::format("{} has several GPUs, but tensors that are summed separately need machines with one GPU",
                    cluster.machine(machine).name));
  }
  return MachineRingBuilder(cluster, workload, options, no_local_stages(cluster), buckets, Where::kHost)
      .build();
}

Result<Plan> hierarchical_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                               const Buckets& buckets) {
  if (options.independent_layers) return ring_of_tensors_plan(cluster, workload, options, buckets);
  const auto gpus = [&](MachineId id) { return cluster.machine(id).gpus.size(); };
  for (const MachineId machine : cluster.gpu_machines()) {
    if (gpus(machine) != gpus(cluster.gpu_machines().front())) {
      return failure(fmt::format("hierarchical all-reduce needs as many GPUs in {} as in {}; use {} or {}",
                                 cluster.machine(machine).name,
                                 cluster.machine(cluster.gpu_machines().front()).name, ring_strategy().name,
                                 default_strategy()));
    }
  }
  return MachineRingBuilder(cluster, workload, options, no_local_stages(cluster), buckets, Where::kGpus)
      .build();
}

double hierarchical_ops(const Cluster& cluster, double buckets) {
  return kOpsPerLocalChunk * std::pow(gpu_machine_count(cluster), 2) * buckets;
}

Strategy ring_strategy() {
  return {.name = "ring",
          .summary = "ring all-reduce among GPU machines, summed in host memory",
          .look = {"#E69F00", "s", "--"},
          .make = ring_plan,
          .ops = ring_ops,
          .grain = {"fusion_size"},
          .tuned = {"fusion_size"},
          .local = conventional_local};
}

Strategy hierarchical_strategy() {
  return {.name = "hierarchical",
          .summary = "reduce-scatter in each machine, a ring among machines per GPU, all-gather",
          .look = {"#009E73", "D", "5 1 1 1 1 1"},
          .make = hierarchical,
          .ops = fused_hierarchical_ops,
          .grain = {"fusion_size"},
          .tuned = {"fusion_size"}};
}

}  // namespace weir
