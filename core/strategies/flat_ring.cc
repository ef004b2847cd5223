#include "core/strategies/flat_ring.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/blocks/slots.h"
#include "core/strategies/ring.h"

namespace weir {
namespace {

// How many buckets may be under way at once, by default; each has its own landing memory.
constexpr std::size_t kFlatRingBuckets = 2;

struct Rank {
  MachineId machine;
  int gpu = 0;
};

class RingBuilder {
 public:
  RingBuilder(const Cluster& cluster, const Workload& workload, const Options& options,
              const Buckets& buckets)
      : cluster_(cluster),
        plan_(buckets.strategy, cluster.machines().size()),
        local_(cluster, workload, options, no_local_stages(cluster), plan_),
        buckets_(buckets.parts()),
        landing_count_(buckets.landing > 0 ? buckets.landing : kFlatRingBuckets),
        order_(service_order(workload, buckets_, options, all_reduce_time(cluster, workload, options))),
        releases_(buckets, order_, local_, plan_) {
    plan_.set_message_efficiency(options.allreduce_efficiency);
    for (const MachineId machine : cluster.gpu_machines()) {
      for (std::size_t gpu = 0; gpu < cluster.machine(machine).gpus.size(); ++gpu) {
        ranks_.push_back({machine, static_cast<int>(gpu)});
      }
    }
    count_ = static_cast<int>(ranks_.size());
    landings_.assign(ranks_.size(), Landings(landing_count_));
    for (const Part& bucket : buckets_) {
      for (int c = 0; c < count_; ++c) largest_ = std::max(largest_, part(bucket, c).range.size);
    }
  }

  Plan build() && {
    for (std::size_t i = 0; i < order_.size(); ++i) exchange(buckets_[order_[i]], i);
    for (const auto& landings : landings_) {
      for (const std::optional<Slots>& landing : landings) {
        if (landing) landing->close(plan_);
      }
    }
    local_.close();
    return std::move(plan_).build();
  }

 private:
  using Landings = std::vector<std::optional<Slots>>;  // by bucket modulo landing_count_
  struct Member {
    OpId released;               // the bucket may start on the machine
    std::vector<OpId> sent;      // by step of the first round: the op that read the chunk
    std::vector<OpId> summed;    // by step of the first round
    std::vector<OpId> received;  // by step of the second round
  };
  // A hop of a chunk between neighbours: a copy within a machine, a message between two.
  struct Hop {
    OpId read;   // the op that reads at the source
    OpId write;  // the op that writes at the target
  };

  int chunk(int index) const { return (index % count_ + count_) % count_; }
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  Part part(const Part& bucket, int index) const {
    Part part = bucket;
    part.range = share(bucket.range, bucket.dtype, index, count_);
    return part;
  }

  Slice gradient(const Rank& rank, const Part& piece) const {
    return {local_.gradient(rank.machine), rank.gpu, piece.range.offset, piece.range.size};
  }

  // Where chunks of a bucket land on one machine, one slot a step. A slot has a replica on each GPU, and each
  // GPU reuses its own.
  Slots& landing(std::size_t rank, std::size_t b) {
    std::optional<Slots>& landing = landings_[rank][b % landing_count_];
    if (landing) return *landing;
    const MachineId machine = ranks_[rank].machine;
    const auto gpus = static_cast<int>(cluster_.machine(machine).gpus.size());
    // All GPUs of the machine use the same offsets, each in its own replica.
    const std::size_t first = rank - static_cast<std::size_t>(ranks_[rank].gpu);
    if (rank != first) return landing.emplace(this->landing(first, b).fresh());
    const BufferId buffer =
        plan_.add({machine, Buffer::Role::kScratch, Memory::Kind::kGpu, 0, gpus, Bytes(0)});
    return landing.emplace(plan_, buffer, ranks_.size() - 1, largest_);
  }

  int nic(const Rank& rank) const {
    return cluster_.nearest_nics(rank.machine, Memory::gpu(rank.gpu)).front();
  }

  Hop hop(const Rank& source, const Rank& target, const Part& piece, const Slice& from, const Slice& into) {
    if (source.machine == target.machine) {
      Op copy = op_for(piece, source.machine, OpKind::kCopy);
      copy.from = from;
      copy.into = into;
      const OpId id = plan_.add(copy);
      return {id, id};
    }
    const Message message =
        add_message(plan_, piece, {source.machine, nic(source), from}, {target.machine, nic(target), into});
    return {message.send, message.receive};
  }

  void exchange(const Part& bucket, std::size_t b) {
    std::map<MachineId, OpId> released;
    for (const MachineId machine : cluster_.gpu_machines()) released[machine] = releases_.release(machine, b);
    std::vector<Member> members(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) members[r].released = released.at(ranks_[r].machine);
    for (int step = 0; step + 1 < count_; ++step) {
      for (int r = 0; r < count_; ++r) sum_step(members, r, step, bucket, b);
    }
    for (int step = 0; step + 1 < count_; ++step) {
      for (int r = 0; r < count_; ++r) spread_step(members, r, step, bucket);
    }
    std::map<MachineId, std::vector<OpId>> done;
    for (int r = 0; r < count_; ++r) {
      const Member& member = members[at(r)];
      std::vector<OpId>& ops = done[ranks_[at(r)].machine];
      ops.insert(ops.end(), member.received.begin(), member.received.end());
      ops.push_back(count_ > 1 ? member.summed.back() : member.released);
    }
    for (const auto& [machine, ops] : done) {
      for (const OpId op : ops) local_.needed(machine, bucket, op);
      releases_.done(machine, b, ops);
    }
  }

  void sum_step(std::vector<Member>& members, int r, int step, const Part& bucket, std::size_t b) {
    const int next = chunk(r + 1);
    const Rank& source = ranks_[at(r)];
    const Rank& target = ranks_[at(next)];
    const Part piece = part(bucket, chunk(r - step));
    if (piece.range.size == Bytes(0)) {  // fewer elements than GPUs
      members[at(r)].sent.push_back(OpId::none());
      members[at(next)].summed.push_back(OpId::none());
      return;
    }
    Slots& slots = landing(at(next), b);
    Slice landed = slots.slice(at(step), piece.range.size);
    landed.on = target.gpu;
    const Hop moved = hop(source, target, piece, gradient(source, piece), landed);
    const OpId sum = add_sum(plan_, piece, target.machine, landed, gradient(target, piece));
    plan_.order(step == 0 ? members[at(r)].released : members[at(r)].summed[at(step - 1)], moved.read);
    slots.use(plan_, at(step), moved.write, sum);
    plan_.order(members[at(next)].released, sum);
    members[at(r)].sent.push_back(moved.read);
    members[at(next)].summed.push_back(sum);
  }

  void spread_step(std::vector<Member>& members, int r, int step, const Part& bucket) {
    const int next = chunk(r + 1);
    const Rank& source = ranks_[at(r)];
    const Rank& target = ranks_[at(next)];
    const Part piece = part(bucket, chunk(r + 1 - step));
    if (piece.range.size == Bytes(0)) {
      members[at(next)].received.push_back(OpId::none());
      return;
    }
    const Hop moved = hop(source, target, piece, gradient(source, piece), gradient(target, piece));
    plan_.order(step == 0 ? members[at(r)].summed[at(count_ - 2)] : members[at(r)].received[at(step - 1)],
                moved.read);
    plan_.order(members[at(next)].sent[at(step)], moved.write);
    members[at(next)].received.push_back(moved.write);
    // The next iteration must not overwrite bytes that are still being passed on.
    plan_.carry(moved.read, local_.backward(source.machine, bucket.last_layer));
  }

  const Cluster& cluster_;
  PlanBuilder plan_;
  LocalStages local_;
  std::vector<Part> buckets_;
  std::size_t landing_count_;
  std::vector<std::size_t> order_;  // the order in which buckets are expected to be served
  Releases releases_;
  std::vector<Rank> ranks_;
  int count_ = 0;
  Bytes largest_;
  std::vector<Landings> landings_;  // by rank
};

Result<Plan> flat_ring(const Cluster& cluster, const Workload& workload, const Options& options) {
  return flat_ring_plan(cluster, workload, options,
                        fused_buckets(std::string(flat_ring_strategy().name), workload, options));
}

double fused_flat_ring_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return flat_ring_ops(cluster, fused_pieces(workload, options));
}

}  // namespace

Result<Plan> flat_ring_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                            const Buckets& buckets) {
  if (options.independent_layers) return ring_of_tensors_plan(cluster, workload, options, buckets);
  return RingBuilder(cluster, workload, options, buckets).build();
}

double flat_ring_ops(const Cluster& cluster, double buckets) {
  return kOpsPerChunk * std::pow(gpu_count(cluster), 2) * buckets;
}

Strategy flat_ring_strategy() {
  return {.name = "flat-ring",
          .summary = "ring all-reduce over all GPUs of all machines",
          .look = {"#D55E00", "^", "-."},
          .make = flat_ring,
          .ops = fused_flat_ring_ops,
          .grain = {"fusion_size"},
          .tuned = {"fusion_size"}};
}

}  // namespace weir
