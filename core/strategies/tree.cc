#include "core/strategies/tree.h"

#include <algorithm>
#include <map>

#include "core/analysis/local_choice.h"
#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/blocks/slots.h"

namespace weir {
namespace {

// Landing slots per child, each for one part.
constexpr std::size_t kSlots = 8;

struct Tree {
  std::vector<int> parent;  // by position; -1 at the root
  std::vector<std::vector<int>> children;
  std::vector<int> upwards;  // positions, children before parents
};

// The tree over [low, high) in symmetric order, like a search tree: odd positions are inner nodes and even
// ones are leaves, as far as the count allows.
int grow(Tree& tree, int low, int high, int parent) {
  if (low >= high) return -1;
  int reach = 1;
  while (reach * 2 <= high - low) reach *= 2;
  const int root = low + reach - 1;
  tree.parent[static_cast<std::size_t>(root)] = parent;
  for (const int child : {grow(tree, low, root, root), grow(tree, root + 1, high, root)}) {
    if (child >= 0) tree.children[static_cast<std::size_t>(root)].push_back(child);
  }
  tree.upwards.push_back(root);
  return root;
}

// The second tree is the first with its positions mirrored (even count) or shifted by one (odd count). This
// turns inner positions into leaves.
Tree make_tree(int count, bool second) {
  Tree plain{std::vector<int>(static_cast<std::size_t>(count), -1),
             std::vector<std::vector<int>>(static_cast<std::size_t>(count)),
             {}};
  grow(plain, 0, count, -1);
  if (!second) return plain;
  const auto moved = [&](int i) { return count % 2 == 0 ? count - 1 - i : (i + 1) % count; };
  Tree tree = plain;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(i);
    const auto to = static_cast<std::size_t>(moved(i));
    tree.parent[to] = plain.parent[from] < 0 ? -1 : moved(plain.parent[from]);
    tree.children[to].clear();
    for (const int child : plain.children[from]) tree.children[to].push_back(moved(child));
  }
  for (int& position : tree.upwards) position = moved(position);
  return tree;
}

class TreeBuilder {
 public:
  TreeBuilder(const Cluster& cluster, const Workload& workload, const Options& options,
              const LocalStageOf& stages)
      : cluster_(cluster),
        plan_(std::string(double_tree_strategy().name), cluster.machines().size()),
        local_(cluster, workload, options, stages, plan_),
        nics_(cluster),
        parts_(workload.partition(options.partition_size)),
        apart_(options.independent_layers),
        machines_(cluster.gpu_machines()) {
    plan_.set_message_efficiency(options.allreduce_efficiency);
    plan_.do_not_pace();
    for (const Part& part : parts_) largest_ = std::max(largest_, part.range.size);
    order_ = service_order(workload, parts_, options, all_reduce_time(cluster, workload, options));
  }

  Plan build() && {
    const int count = static_cast<int>(machines_.size());
    const Tree trees[] = {make_tree(count, false), make_tree(count, true)};
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
  return ops_of_parts(cluster, workload, options.partition_size);
}

}  // namespace

Strategy double_tree_strategy() {
  return {.name = "double-tree",
          .summary = "all-reduce along two complementary binary trees of GPU machines",
          .look = {"#CC79A7", "v", "3 1"},
          .make = double_tree_plan,
          .ops = double_tree_ops,
          .grain = {"partition_size"},
          .tuned = {"partition_size", "credit"},
          .local = conventional_local};
}

}  // namespace weir
