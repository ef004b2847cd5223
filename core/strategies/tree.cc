#include "core/strategies/tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "core/analysis/local_choice.h"
#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/blocks/slots.h"
#include "core/strategies/blocks/two_trees.h"

namespace weir {
namespace {

// Landing slots per child, each for one chunk.
constexpr std::size_t kSlots = 8;

// The fraction of an iteration that may be spent on filling and draining trees.
constexpr double kTreeFill = 0.007;
// A chunk makes many hops, where a part of a parameter server makes two. So trees cut finer.
constexpr std::int64_t kFinestChunks = 32;  // in a finest_part
// A machine sends to four neighbours. While chunks to one of them wait for their turn, there must be room in
// the send window for chunks to the others.
constexpr std::int64_t kChunksPerWindow = 16;

// How large chunks should be; tree.h has the derivation.
class ChunkSizes {
 public:
  ChunkSizes(const Cluster& cluster, const Workload& workload, const Options& options)
      : partition_size_(options.partition_size),
        finer_(options.finest_part < partition_size_),
        finest_(std::max(Bytes(1), options.finest_part / kFinestChunks)),
        coarsest_(partition_size_) {
    if (const auto window = send_window(options))
      coarsest_ = std::min(coarsest_, std::max(finest_, *window / kChunksPerWindow));
    const std::vector<MachineId>& machines = cluster.gpu_machines();
    const Tree tree = two_trees(static_cast<int>(machines.size())).front();
    turns_ = std::max(2, 4 * tree.depth - 6);
    for (std::size_t child = 0; child < machines.size(); ++child) {
      if (tree.parent[child] < 0) continue;
      const MachineId parent = machines[static_cast<std::size_t>(tree.parent[child])];
      latency_ = std::max(latency_, cluster.route(machines[child], {}, 0, parent, {}, 0).latency);
    }
    latency_ += options.part_overhead;
    for (const MachineId machine : machines) nics_ = std::max(nics_, cluster.machine(machine).nics.size());
    constexpr double kMany = 1e9;
    rate_ = kMany / time_at_nics(cluster, Bytes(static_cast<std::int64_t>(kMany))).seconds();
    const Duration exchange = all_reduce_time(cluster, workload, options);
    noticed_ = kTreeFill * std::max(exchange, compute_time(workload.trace())).seconds() * rate_ / turns_;
  }

  // The number of chunks of a run of this many bytes. It is even, so that both trees have as much to do.
  std::int64_t count(Bytes run) const {
    const std::int64_t each = largest(run).count();
    const std::int64_t count = (run.count() + each - 1) / each;
    return count > 1 ? count + count % 2 : count;
  }

 private:
  Bytes largest(Bytes run) const {
    if (!finer_) return partition_size_;
    if (!std::isfinite(rate_)) return coarsest_;
    const double best = std::sqrt(2 * latency_.seconds() * rate_ * static_cast<double>(run.count()) / turns_);
    const double chunk = std::max(best, noticed_) / static_cast<double>(nics_);
    return std::clamp(Bytes(static_cast<std::int64_t>(std::min(chunk, 1e15))), finest_, coarsest_);
  }

  Bytes partition_size_;
  bool finer_;  // whether chunks may be finer than that
  Bytes finest_;
  Bytes coarsest_;
  int turns_ = 0;         // of a NIC, in which trees fill and drain
  Duration latency_;      // of a message
  std::size_t nics_ = 1;  // of a machine
  double rate_ = 0.0;     // bytes a second of the slowest machine's NICs
  double noticed_ = 0.0;  // the chunk in bytes below which filling takes no noticeable part of the iteration
};

// Gradients that are ready together. Each run is cut by itself.
std::vector<Part> runs(const Workload& workload) {
  return workload.partition(std::max(Bytes(1), workload.size()));
}

std::vector<Part> chunks(const Cluster& cluster, const Workload& workload, const Options& options) {
  const ChunkSizes sizes(cluster, workload, options);
  std::vector<Part> chunks;
  for (const Part& run : runs(workload)) {
    const std::vector<Part> pieces = cut(run, static_cast<int>(sizes.count(run.range.size)));
    chunks.insert(chunks.end(), pieces.begin(), pieces.end());
  }
  workload.rank(chunks);
  return chunks;
}

class TreeBuilder {
 public:
  TreeBuilder(const Cluster& cluster, const Workload& workload, const Options& options,
              const LocalStageOf& stages)
      : cluster_(cluster),
        plan_(std::string(double_tree_strategy().name), cluster.machines().size()),
        local_(cluster, workload, options, stages, plan_),
        nics_(cluster),
        parts_(chunks(cluster, workload, options)),
        apart_(options.independent_layers),
        machines_(cluster.gpu_machines()) {
    plan_.set_message_efficiency(options.allreduce_efficiency);
    plan_.do_not_pace();
    for (const Part& part : parts_) largest_ = std::max(largest_, part.range.size);
    order_ = service_order(workload, parts_, options, all_reduce_time(cluster, workload, options));
  }

  Plan build() && {
    const std::array<Tree, 2> trees = two_trees(static_cast<int>(machines_.size()));
    // Each part goes to the tree that has fewer bytes so far.
    Bytes loads[2];
    for (const std::size_t p : order_) {
      const std::size_t lighter = loads[1] < loads[0] ? 1 : 0;
      loads[lighter] += parts_[p].range.size;
      exchange(parts_[p], trees[lighter]);
    }
    for (const auto& [key, ring] : rings_) ring.slots.close(plan_);
    local_.close();
    return std::move(plan_).build();
  }

 private:
  struct Ring {
    BufferId buffer;
    Slots slots;
    std::size_t used = 0;
  };
  struct Member {
    LocalWay way;
    Endpoint end;             // its staging memory
    std::vector<OpId> sums;   // the ops that add its children's sums
    OpId up;                  // the send to its parent
    std::vector<OpId> total;  // the ops after which the sum of all is in its staging memory
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void exchange(const Part& part, const Tree& tree) {
    std::vector<Member> members;
    for (const MachineId machine : machines_) {
      const int nic = nics_.take(machine, part.range.size);
      Member member;
      member.way = local_.out(machine, part, nic);
      member.end = {machine, nic, member.way.staging};
      members.push_back(member);
    }
    for (const int position : tree.upwards) {
      if (tree.parent[at(position)] >= 0) reduce(members, position, tree.parent[at(position)], part);
    }
    for (auto position = tree.upwards.rbegin(); position != tree.upwards.rend(); ++position) {
      Member& member = members[at(*position)];
      if (tree.parent[at(*position)] < 0) {
        member.total = member.sums;
        member.total.push_back(member.way.ready);
      }
      for (const int child : tree.children[at(*position)]) spread(member, members[at(child)], part);
      local_.in(member.way, part, member.total);
    }
  }

  void reduce(std::vector<Member>& members, int child_position, int parent_position, const Part& part) {
    Member& child = members[at(child_position)];
    Member& parent = members[at(parent_position)];
    Ring& ring = ring_of(parent.end, child.end.machine);
    const std::size_t slot =
        apart_ ? ring.slots.add(plan_, ring.buffer, part.range.size) : ring.used++ % ring.slots.count();
    Endpoint landing = parent.end;
    landing.slice = ring.slots.slice(slot, part.range.size);
    const Message message = add_message(plan_, part, child.end, landing);
    const OpId sum = add_sum(plan_, part, parent.end.machine, landing.slice, parent.end.slice);
    plan_.order(child.way.ready, message.send);
    for (const OpId op : child.sums) plan_.order(op, message.send);
    plan_.order(parent.way.ready, sum);
    ring.slots.use(plan_, slot, message.receive, sum);
    child.up = message.send;
    parent.sums.push_back(sum);
  }

  void spread(const Member& parent, Member& child, const Part& part) {
    const Message message = add_message(plan_, part, parent.end, child.end);
    for (const OpId op : parent.total) plan_.order(op, message.send);
    plan_.order(child.up, message.receive);
    plan_.carry(message.send, parent.way.begun);  // that op overwrites the bytes that are being sent
    child.total = {message.receive};
  }

  Ring& ring_of(const Endpoint& parent, MachineId child) {
    const int numa = plan_.buffer(parent.slice.buffer).numa;
    const auto known = rings_.find({parent.machine, child, numa});
    if (known != rings_.end()) return known->second;
    const BufferId buffer =
        plan_.add({parent.machine, Buffer::Role::kScratch, Memory::Kind::kHost, numa, 1, Bytes(0)});
    Ring ring{buffer, Slots(plan_, buffer, apart_ ? 0 : std::min(kSlots, parts_.size()), largest_)};
    return rings_.emplace(std::tuple(parent.machine, child, numa), std::move(ring)).first->second;
  }

  const Cluster& cluster_;
  PlanBuilder plan_;
  LocalStages local_;
  NicTurns nics_;
  std::vector<Part> parts_;
  bool apart_;                      // whether no part may wait for another
  std::vector<std::size_t> order_;  // the order in which parts are expected to be served
  const std::vector<MachineId>& machines_;
  Bytes largest_;
  std::map<std::tuple<MachineId, MachineId, int>, Ring> rings_;  // parent, child, NUMA node
};

Result<Plan> double_tree_plan(const Cluster& cluster, const Workload& workload, const Options& options) {
  const auto local = conventional_local(cluster, most_common_dtype(workload.trace()), options);
  if (!local) return failure(local.error().text);
  return TreeBuilder(cluster, workload, options, local->stages).build();
}

double double_tree_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  const ChunkSizes sizes(cluster, workload, options);
  double chunks = 0;
  for (const Part& run : runs(workload)) chunks += static_cast<double>(sizes.count(run.range.size));
  return ops_of_parts(cluster, chunks);
}

}  // namespace

Strategy double_tree_strategy() {
  return {.name = "double-tree",
          .summary = "all-reduce along two complementary binary trees of GPU machines",
          .look = {"#CC79A7", "v", "3 1"},
          .make = double_tree_plan,
          .ops = double_tree_ops,
          .grain = {"partition_size", "finest_part"},
          .tuned = {"partition_size", "credit"},
          .local = conventional_local};
}

}  // namespace weir
