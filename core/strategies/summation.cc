#include "core/strategies/summation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/strategies/hashed_placement.h"
#include "core/strategies/local_choice.h"
#include "core/strategies/local_stage.h"
#include "core/strategies/nics.h"
#include "core/strategies/placement.h"
#include "core/strategies/slots.h"

namespace weir {
namespace {

// The fraction of an iteration that may go into filling and draining the pipeline from push to pull.
constexpr double kFill = 0.007;
// The fraction of a NIC's traffic that one part may be, if its machine has several NICs.
constexpr double kImbalance = 0.01;
// How long that takes, in times in which a NIC sends one part to each of its peers (measured: 3 to 5).
constexpr double kFillRounds = 4.5;
// The fewest landing slots per sender: one filling, one being summed, and as many on their way. As a rule
// there are as many as half of the sender's window fills, if it is spread over the owners like their shares.
// More would not speed anything up, but let workers drift apart, each with other parts under way, none of
// them complete.
constexpr double kFewestSlots = 4;

// The largest part in which no NIC of a machine with several carries much more than its fraction. A single
// NIC carries whatever there is.
Bytes balanced_part_size(const Cluster& cluster, const Workload& workload, const Options& options) {
  std::size_t nics = 1;
  for (const Machine& machine : cluster.machines()) nics = std::max(nics, machine.nics.size());
  if (nics == 1) return options.partition_size;
  const auto fraction = static_cast<double>(workload.size().count()) / static_cast<double>(nics);
  return Bytes(static_cast<std::int64_t>(kImbalance * fraction));
}

// A part's sum can go back only when all workers' bytes of it are there, and they come side by side with the
// parts of other owners: about a part for each peer goes by before the way back has anything to do.
Bytes pipelined_part_size(const Cluster& cluster, const Workload& workload, const Options& options,
                          Duration exchange) {
  const std::size_t peers = std::max<std::size_t>(1, cluster.machines().size() - 1);
  const double iteration = std::max(exchange, compute_time(workload.trace())).seconds();
  const double seconds_each = kFill * iteration / (kFillRounds * static_cast<double>(peers));
  const double seconds_per_byte = time_at_nics(cluster, Bytes(1'000'000'000)).seconds() / 1e9;
  if (seconds_per_byte == 0.0) return options.partition_size;
  return Bytes(static_cast<std::int64_t>(seconds_each / seconds_per_byte));
}

Bytes part_size(const Cluster& cluster, const Workload& workload, const Options& options, Duration exchange) {
  const Bytes fine = std::min(balanced_part_size(cluster, workload, options),
                              pipelined_part_size(cluster, workload, options, exchange));
  return std::clamp(fine, std::min(options.finest_part, options.partition_size), options.partition_size);
}

Duration exchange_time(const Workload& workload, const Shares& shares) {
  return Duration::from_seconds(shares.seconds_per_byte * static_cast<double>(workload.size().count()));
}

// The parts of the workload in the order in which they are expected to be served.
std::vector<Part> served(const Cluster& cluster, const Workload& workload, const Options& options,
                         const Shares& shares) {
  const Duration exchange = exchange_time(workload, shares);
  const std::vector<Part> parts = workload.partition(part_size(cluster, workload, options, exchange));
  std::vector<Part> ordered;
  for (const std::size_t i : service_order(workload, parts, options, exchange)) {
    ordered.push_back(parts[i]);
  }
  return ordered;
}

// By the order in which the parts are expected to be served, behind NICs that take turns.
std::vector<PlacedPart> placed(const Cluster& cluster, const Workload& workload, const Options& options,
                               const Shares& shares, std::vector<Assigned> assigned) {
  std::vector<Part> parts;
  for (const Assigned& part : assigned) parts.push_back(part.part);
  workload.rank(parts);
  NicTurns nics(cluster);
  std::map<MachineId, std::size_t> owned;
  std::vector<PlacedPart> placed;
  for (const std::size_t i : service_order(workload, parts, options, exchange_time(workload, shares))) {
    const MachineId owner = assigned[i].owner;
    placed.push_back({parts[i], owner, nics.take(owner, parts[i].range.size), owned[owner]++});
  }
  return placed;
}

class Builder {
 public:
  Builder(std::string name, const Cluster& cluster, const Workload& workload, const Options& options,
          const LocalStageOf& stages, const Shares& shares, std::vector<PlacedPart> parts)
      : cluster_(cluster),
        options_(options),
        shares_(shares),
        plan_(std::move(name), cluster.machines().size()),
        local_(cluster, workload, options, stages, plan_),
        push_nics_(cluster),
        numas_(cluster, options.numa),
        parts_(std::move(parts)),
        nodes_(cluster.machines().size()) {
    for (const PlacedPart& placed : parts_) {
      largest_ = std::max(largest_, placed.part.range.size);
      ++nodes_[placed.owner.index()].parts;
    }
    owners_ = static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.parts > 0; }));
  }

  Plan build() && {
    for (std::size_t begin = 0; begin < parts_.size();) {
      std::size_t end = begin + 1;
      while (end < parts_.size() && end - begin < owners_ &&
             parts_[end].part.first_layer == parts_[begin].part.first_layer) {
        ++end;
      }
      round_ = std::span(parts_).subspan(begin, end - begin);
      for (const PlacedPart& placed : round_) exchange(placed);
      begin = end;
    }
    for (const Node& node : nodes_) {
      for (const auto& [key, ring] : node.rings) ring.slots.close(plan_);
    }
    local_.close();
    return std::move(plan_).build();
  }

 private:
  // Where messages of one sender land on one NUMA node of an owner, slot after slot, until they have been
  // summed.
  struct Ring {
    BufferId buffer;
    Slots slots;
    std::size_t used = 0;
  };
  struct Node {
    std::size_t parts = 0;                            // parts that it owns
    std::map<std::pair<MachineId, int>, Ring> rings;  // by sender and NUMA node
    std::map<int, BufferId> accumulators;             // by NUMA node
    std::map<int, BufferId> requests;                 // by NUMA node
    std::vector<OpId> complete;                       // by part, of those exchanged so far
  };

  // Else each part has a slot of its own: without a window, or as parts may not wait for one another.
  bool share_slots() const { return options_.credit && !options_.independent_layers; }

  std::size_t slots(MachineId owner) const {
    const std::size_t parts = nodes_[owner.index()].parts;
    const Bytes window = options_.partition_size * *options_.credit;
    const double messages = shares_.of_machine[owner.index()] * static_cast<double>(window.count()) /
                            static_cast<double>(2 * largest_.count());
    const auto wanted = static_cast<std::size_t>(std::max(kFewestSlots, std::ceil(messages)));
    return std::min(parts, wanted);
  }

  Ring& ring_of(MachineId owner, MachineId sender, int numa) {
    auto& rings = nodes_[owner.index()].rings;
    const auto known = rings.find({sender, numa});
    if (known != rings.end()) return known->second;
    const BufferId buffer =
        plan_.add({owner, Buffer::Role::kScratch, Memory::Kind::kHost, numa, 1, Bytes(0)});
    const std::size_t count = share_slots() ? slots(owner) : 0;
    return rings.emplace(std::pair(sender, numa), Ring{buffer, Slots(plan_, buffer, count, largest_)})
        .first->second;
  }

  // Whether what the worker has of a part lies where it is summed. A machine without NICs has no other way.
  bool at_home(MachineId worker, MachineId owner) const {
    const bool memory = options_.loopback == Loopback::kMemory || cluster_.machine(owner).nics.empty();
    return worker == owner && memory;
  }

  // One part: every worker's way out, the sum on its owner, and every worker's way in.
  void exchange(const PlacedPart& placed) {
    const Part& part = placed.part;
    const MachineId owner = placed.owner;
    const int owner_nic = placed.nic;
    std::vector<LocalWay> workers;
    for (const MachineId machine : cluster_.gpu_machines()) {
      const int nic = machine == owner ? owner_nic : push_nics_.take(machine, part.range.size);
      workers.push_back(local_.out(machine, part, nic, !at_home(machine, owner)));
    }
    // Workers take turns in being the one whose bytes the others' are added to, and the first that gets the
    // sum; at any time another one for each owner.
    const std::size_t turn = (placed.index + owner.index()) % workers.size();
    std::rotate(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(turn), workers.end());
    const auto own = std::find_if(workers.begin(), workers.end(),
                                  [&](const LocalWay& w) { return at_home(w.machine, owner); });
    if (own != workers.end()) std::rotate(workers.begin(), own, own + 1);

    std::vector<OpId> sums;  // after the first
    std::vector<OpId> pushes(workers.size());
    Slice total;
    OpId first;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const LocalWay& worker = workers[i];
      if (i == 0) {
        total = begin_sum(worker, owner, owner_nic, part, pushes[0], first);
        continue;
      }
      pushes[i] = add_to(total, first, worker, owner, owner_nic, part, sums);
    }
    const OpId summed = sums.empty() ? first : join(plan_, part, owner, sums);
    const OpId complete = updated(part, owner, total, summed);
    nodes_[owner.index()].complete.push_back(complete);
    const OpId begun = at_home(workers.front().machine, owner) ? workers.front().begun : first;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      finish(workers[i], pushes[i], owner, owner_nic, part, total, begun, complete);
    }
  }

  // What has the optimizer's step in it, if there is one.
  OpId updated(const Part& part, MachineId owner, const Slice& total, OpId summed) {
    if (options_.optimizer == Optimizer::kNone) return summed;
    Op update = op_for(part, owner, OpKind::kUpdate);
    update.into = total;
    update.passes = memory_passes(options_.optimizer);
    const OpId id = plan_.add(update);
    plan_.order(summed, id);
    return id;
  }

  // Workers push the parts of a round, of which each owner has about one, in the same cyclic order, but each
  // begins elsewhere: else a window smaller than the number of owners would have all of them push to the same
  // few.
  std::int64_t push_priority(MachineId worker, const Part& part) const {
    const std::vector<MachineId>& workers = cluster_.gpu_machines();
    const auto ordinal =
        static_cast<std::size_t>(std::lower_bound(workers.begin(), workers.end(), worker) - workers.begin());
    const auto own = std::find_if(round_.begin(), round_.end(), [&](const PlacedPart& placed) {
      return placed.part.rank == part.rank && placed.part.range == part.range;
    });
    const auto position = static_cast<std::size_t>(own - round_.begin());
    const std::size_t first = ordinal * round_.size() / workers.size();
    return round_[(position + round_.size() - first) % round_.size()].part.priority();
  }

  // The first worker's bytes become the accumulator: its own staging memory if it owns the part, else a
  // receive.
  Slice begin_sum(const LocalWay& worker, MachineId owner, int owner_nic, const Part& part, OpId& push,
                  OpId& first) {
    if (at_home(worker.machine, owner)) {
      first = worker.ready;
      return worker.staging;
    }
    const int numa = numas_.take(owner, owner_nic, part.range.size);
    BufferId& buffer = nodes_[owner.index()].accumulators.try_emplace(numa).first->second;
    if (!buffer.valid())
      buffer = plan_.add({owner, Buffer::Role::kAccumulator, Memory::Kind::kHost, numa, 1, Bytes(0)});
    const Slice total = plan_.reserve(buffer, part.range.size, part.dtype);
    const Message message =
        add_message(plan_, part, {worker.machine, worker.nic, worker.staging}, {owner, owner_nic, total});
    plan_.op(message.send).priority = push_priority(worker.machine, part);
    plan_.order(worker.ready, message.send);
    // Nothing is overwritten here, but a worker that ran ahead with the parts that it is the first to push
    // would keep all others' sums waiting. So this receive, too, waits until as many parts are complete as if
    // it had slots.
    const std::vector<OpId>& complete = nodes_[owner.index()].complete;
    const std::size_t ahead = share_slots() ? slots(owner) : complete.size() + 1;
    if (complete.size() >= ahead) plan_.order(complete[complete.size() - ahead], message.receive);
    push = message.send;
    first = message.receive;
    return total;
  }

  OpId add_to(const Slice& total, OpId first, const LocalWay& worker, MachineId owner, int owner_nic,
              const Part& part, std::vector<OpId>& sums) {
    Ring& ring = ring_of(owner, worker.machine, plan_.buffer(total.buffer).numa);
    const std::size_t slot = share_slots() ? ring.used++ % ring.slots.count()
                                           : ring.slots.add(plan_, ring.buffer, part.range.size);
    const Slice landed = ring.slots.slice(slot, part.range.size);
    const Message message =
        add_message(plan_, part, {worker.machine, worker.nic, worker.staging}, {owner, owner_nic, landed});
    const OpId sum = add_sum(plan_, part, owner, landed, total);
    plan_.op(message.send).priority = push_priority(worker.machine, part);
    plan_.order(worker.ready, message.send);
    plan_.order(first, sum);
    ring.slots.use(plan_, slot, message.receive, sum);
    sums.push_back(sum);
    return message.send;
  }

  void finish(const LocalWay& worker, OpId push, MachineId owner, int owner_nic, const Part& part,
              const Slice& total, OpId begun, OpId complete) {
    if (at_home(worker.machine, owner)) return local_.in(worker, part, {complete});
    const Message message =
        add_message(plan_, part, {owner, owner_nic, total}, {worker.machine, worker.nic, worker.staging});
    plan_.order(complete, message.send);
    plan_.order(push, message.receive);
    if (options_.pull_requests) {
      const Message asked = request(worker, push, owner, owner_nic, part, plan_.buffer(total.buffer).numa);
      plan_.order(asked.receive, message.send);
      plan_.order(asked.send, message.receive);
    }
    plan_.carry(message.send,
                begun);  // the next iteration's bytes must not overwrite a sum that is being sent
    local_.in(worker, part, {message.receive});
  }

  // A message of one element, which the owner must have before it sends the sum.
  Message request(const LocalWay& worker, OpId push, MachineId owner, int owner_nic, const Part& part,
                  int numa) {
    Slice word = worker.staging;
    word.size = size(part.dtype);
    BufferId& buffer = nodes_[owner.index()].requests.try_emplace(numa).first->second;
    if (!buffer.valid())
      buffer = plan_.add({owner, Buffer::Role::kScratch, Memory::Kind::kHost, numa, 1, Bytes(0)});
    const Slice landed = plan_.reserve(buffer, word.size, part.dtype);
    const Message message =
        add_message(plan_, part, {worker.machine, worker.nic, word}, {owner, owner_nic, landed});
    plan_.order(push, message.send);
    return message;
  }

  const Cluster& cluster_;
  const Options& options_;
  const Shares& shares_;
  PlanBuilder plan_;
  LocalStages local_;
  NicTurns push_nics_;
  NumaTurns numas_;                    // of machines that sum only
  std::vector<PlacedPart> parts_;      // in the order in which they are expected to be served
  std::span<const PlacedPart> round_;  // the parts, of one layer, that are served side by side
  std::size_t owners_ = 0;
  Bytes largest_;
  std::vector<Node> nodes_;
};

struct Split {
  LocalChoice local;
  Shares shares;
};

Result<Split> split_of(const Cluster& cluster, const Workload& workload, const Options& options,
                       Summing summing) {
  const Dtype dtype = most_common_dtype(workload.trace());
  const Result<LocalChoice> local = choose_local(cluster, dtype, options);
  if (!local) return failure(local.error().text);
  const Result<Shares> shares = shares_of(cluster, dtype, options, local->stages, summing);
  if (!shares) return failure(shares.error().text);
  return Split{*local, *shares};
}

}  // namespace

Result<Plan> summation_plan(std::string name, const Cluster& cluster, const Workload& workload,
                            const Options& options, Summing summing) {
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return failure(split.error().text);
  const Shares& shares = split->shares;
  std::vector<PlacedPart> parts;
  if (options.placement == PartPlacement::kHash) {
    auto assigned = assign_as_byteps(cluster, workload, options.partition_size, summing);
    if (!assigned) return tl::unexpected(assigned.error());
    parts = placed(cluster, workload, options, shares, *assigned);
  } else {
    parts = place(served(cluster, workload, options, shares), summers(cluster, shares.of_machine));
  }
  return Builder(std::move(name), cluster, workload, options, split->local.stages, shares, std::move(parts))
      .build();
}

Result<Plan> mxnet_plan(const Cluster& cluster, const Workload& workload, const Options& options) {
  const std::vector<MachineId>& servers = mxnet_servers(cluster);
  const bool colocated = servers == cluster.gpu_machines();
  const Result<Split> split =
      split_of(cluster, workload, options, colocated ? Summing::kGpuMachines : Summing::kCpuMachines);
  if (!split) return failure(split.error().text);
  return Builder("mxnet-ps", cluster, workload, options, split->local.stages, split->shares,
                 placed(cluster, workload, options, split->shares, assign_as_mxnet(workload, servers)))
      .build();
}

Bytes summation_part(const Cluster& cluster, const Workload& workload, const Options& options,
                     Summing summing) {
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return options.partition_size;  // there will be no plan
  return part_size(cluster, workload, options, exchange_time(workload, split->shares));
}

}  // namespace weir
