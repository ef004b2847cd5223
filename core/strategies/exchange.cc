#include "core/strategies/exchange.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/slots.h"
#include "core/strategies/update_barrier.h"

namespace weir {
namespace {

// The fewest landing slots per sender: one being filled, one being summed, and as many on their way. Usually
// there are enough for half of the sender's window, if that is spread over the owners like their shares. More
// slots would not make anything faster. They would let workers drift apart, each with other parts under way,
// none complete.
constexpr double kFewestSlots = 4;

class ExchangeBuilder {
 public:
  ExchangeBuilder(std::string name, const Cluster& cluster, const Workload& workload, const Options& options,
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
    for (const MachineId machine : cluster.gpu_machines()) {
      const bool apart = stages[machine.index()] == LocalStage::kApart;
      const int gpus = apart ? static_cast<int>(cluster.machine(machine).gpus.size()) : 1;
      for (int gpu = 0; gpu < gpus; ++gpu) senders_.push_back({machine, apart ? gpu : kAllGpus});
      apart_ = apart_ || apart;
    }
    for (const PlacedPart& placed : parts_) {
      largest_ = std::max(largest_, placed.part.range.size);
      ++nodes_[placed.owner.index()].parts;
    }
    owners_ = static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.parts > 0; }));
  }

  Plan build() && {
    rounds();
    const std::span<const PlacedPart> parts = parts_;
    for (std::size_t begin = 0; begin < parts.size();) {
      std::size_t end = begin + 1;
      while (end < parts.size() && parts[end].part.priority() == parts[begin].part.priority()) ++end;
      exchange(parts.subspan(begin, end - begin));
      begin = end;
    }
    for (const Node& node : nodes_) {
      for (const auto& [key, ring] : node.rings) ring.slots.close(plan_);
    }
    if (held_back()) barrier_.close(plan_, cluster_.gpu_machines().front());
    local_.close();
    return std::move(plan_).build();
  }

 private:
  // What pushes a gradient and pulls the sum: a machine on behalf of all its GPUs, or a single GPU.
  static constexpr int kAllGpus = -1;
  struct Sender {
    MachineId machine;
    int gpu = kAllGpus;
  };
  // Where messages of one machine land on one NUMA node of an owner, slot after slot, until they have been
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
    std::vector<OpId> complete;                       // by part, for the parts exchanged so far
  };
  // Neighbouring pieces of one part that a sender hands out, and gets back, together.
  struct Run {
    Part part;
    bool own = false;  // whether the worker itself sums it
    LocalWay way;
    std::vector<OpId> sums;  // the sums of its pieces are there after these ops
  };
  // One piece at one sender.
  struct Worker {
    MachineId machine;
    int nic = 0;
    Slice staging;
    OpId begun;
    OpId ready;
    std::vector<OpId>* sums = nullptr;  // of its run
  };
  // Parts of one layer that are served in parallel; each owner has about one of them.
  struct Round {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  void rounds() {
    for (std::size_t begin = 0; begin < parts_.size();) {
      Round round = {begin, 1};
      while (begin + round.size < parts_.size() && round.size < owners_ &&
             parts_[begin + round.size].part.first_layer == parts_[begin].part.first_layer) {
        ++round.size;
      }
      round_of_.insert(round_of_.end(), round.size, round);
      begin += round.size;
    }
  }

  // Whether parts share slots. Each part has its own slot if there is no window, or if parts or GPUs may not
  // wait for each other.
  bool share_slots() const { return options_.credit && !options_.independent_layers && !apart_; }

  bool held_back() const { return options_.update_barrier && !options_.independent_layers; }

  std::size_t slots(MachineId owner) const {
    const std::size_t parts = nodes_[owner.index()].parts;
    const Bytes window = *send_window(options_);
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

  // Whether the worker's bytes of a part already lie where they are summed. A machine without NICs has no
  // other way.
  bool at_home(MachineId worker, MachineId owner) const {
    const bool memory = options_.loopback == Loopback::kMemory || cluster_.machine(owner).nics.empty();
    return worker == owner && memory;
  }

  // Adds the exchange of one part's pieces: every sender's way out, the sums on their owners, every sender's
  // way in.
  void exchange(std::span<const PlacedPart> pieces) {
    std::vector<std::vector<Run>> runs;  // by sender
    for (const Sender& sender : senders_) runs.push_back(runs_of(sender, pieces));
    std::vector<std::size_t> at(runs.size(), 0);  // by sender: the piece's run
    for (const PlacedPart& piece : pieces) {
      std::vector<Worker> workers;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if (piece.part.range.offset >= runs[i][at[i]].part.range.end()) ++at[i];
        workers.push_back(worker_of(runs[i][at[i]], piece.part));
      }
      exchange(piece, workers);
    }
    for (const std::vector<Run>& of_worker : runs) {
      for (const Run& run : of_worker) local_.in(run.way, run.part, run.sums);
    }
  }

  std::vector<Run> runs_of(const Sender& sender, std::span<const PlacedPart> pieces) {
    const MachineId machine = sender.machine;
    std::vector<Run> runs;
    std::vector<int> nics;
    for (const PlacedPart& piece : pieces) {
      const bool own = piece.owner == machine;
      if (!runs.empty() && !own && !runs.back().own) {
        runs.back().part.range.size += piece.part.range.size;
      } else {
        runs.push_back({piece.part, own, {}, {}});
        nics.push_back(piece.nic);
      }
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      Run& run = runs[i];
      const int nic = run.own ? nics[i] : push_nics_.take(machine, run.part.range.size);
      run.way = sender.gpu != kAllGpus
                    ? local_.out_of_gpu(machine, sender.gpu, run.part, nic)
                    : local_.out(machine, run.part, nic, !(run.own && at_home(machine, machine)));
    }
    return runs;
  }

  static Worker worker_of(Run& run, const Part& piece) {
    Slice staging = run.way.staging;
    staging.offset += piece.range.offset - run.part.range.offset;
    staging.size = piece.range.size;
    return {run.way.machine, run.way.nic, staging, run.way.begun, run.way.ready, &run.sums};
  }

  void exchange(const PlacedPart& placed, std::vector<Worker>& workers) {
    const Part& part = placed.part;
    const MachineId owner = placed.owner;
    const int owner_nic = placed.nic;
    // The first worker's bytes are those that the others' are added to, and it gets the sum first. Workers
    // take turns at this; at any time each owner has a different one.
    const std::size_t turn = (placed.index + owner.index()) % workers.size();
    std::rotate(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(turn), workers.end());
    const auto own = std::find_if(workers.begin(), workers.end(),
                                  [&](const Worker& w) { return at_home(w.machine, owner); });
    if (own != workers.end()) std::rotate(workers.begin(), own, own + 1);

    std::vector<OpId> sums;  // the sums after the first worker's bytes
    std::vector<OpId> pushes(workers.size());
    Slice total;
    OpId first;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const Worker& worker = workers[i];
      if (i == 0) {
        total = begin_sum(worker, placed, pushes[0], first);
        continue;
      }
      pushes[i] = add_to(total, first, worker, placed, sums);
    }
    const OpId summed = sums.empty() ? first : join(plan_, part, owner, sums);
    const OpId complete = updated(part, owner, total, summed);
    nodes_[owner.index()].complete.push_back(complete);
    const OpId begun = at_home(workers.front().machine, owner) ? workers.front().begun : first;
    std::vector<OpId> sends;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const OpId send = finish(workers[i], pushes[i], owner, owner_nic, part, total, begun, complete);
      if (send.valid()) sends.push_back(send);
    }
    if (held_back()) barrier_.add(owner, {part, total, begun, complete, std::move(sends)});
  }

  // The op after which the total includes the optimizer's step, if there is one.
  OpId updated(const Part& part, MachineId owner, const Slice& total, OpId summed) {
    if (options_.optimizer == Optimizer::kNone) return summed;
    Op update = op_for(part, owner, OpKind::kUpdate);
    update.into = total;
    update.passes = memory_passes(options_);
    const OpId id = plan_.add(update);
    plan_.order(summed, id);
    return id;
  }

  // Workers push the parts of a round in the same cyclic order, but each begins at a different part.
  // Otherwise, with a window smaller than the number of owners, all of them would push to the same few
  // owners.
  std::int64_t push_priority(MachineId worker, const PlacedPart& placed) const {
    const std::vector<MachineId>& workers = cluster_.gpu_machines();
    const auto ordinal =
        static_cast<std::size_t>(std::lower_bound(workers.begin(), workers.end(), worker) - workers.begin());
    const auto index = static_cast<std::size_t>(&placed - parts_.data());
    const Round& round = round_of_[index];
    const std::size_t first = ordinal * round.size / workers.size();
    return parts_[round.begin + (index - round.begin + round.size - first) % round.size].part.priority();
  }

  // The first worker's bytes become the accumulator: its own staging memory if it owns the part, otherwise a
  // receive.
  Slice begin_sum(const Worker& worker, const PlacedPart& placed, OpId& push, OpId& first) {
    const auto& [part, owner, owner_nic, index] = placed;
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
    plan_.op(message.send).priority = push_priority(worker.machine, placed);
    plan_.order(worker.ready, message.send);
    // Nothing is overwritten here. But a worker could run ahead with the parts that it pushes first, and keep
    // all others' sums waiting. So this receive also waits until as many parts are complete as if it had
    // slots.
    const std::vector<OpId>& complete = nodes_[owner.index()].complete;
    const std::size_t ahead = share_slots() ? slots(owner) : complete.size() + 1;
    if (complete.size() >= ahead) plan_.order(complete[complete.size() - ahead], message.receive);
    push = message.send;
    first = message.receive;
    return total;
  }

  OpId add_to(const Slice& total, OpId first, const Worker& worker, const PlacedPart& placed,
              std::vector<OpId>& sums) {
    const auto& [part, owner, owner_nic, index] = placed;
    Ring& ring = ring_of(owner, worker.machine, plan_.buffer(total.buffer).numa);
    const std::size_t slot = share_slots() ? ring.used++ % ring.slots.count()
                                           : ring.slots.add(plan_, ring.buffer, part.range.size);
    const Slice landed = ring.slots.slice(slot, part.range.size);
    const Message message =
        add_message(plan_, part, {worker.machine, worker.nic, worker.staging}, {owner, owner_nic, landed});
    const OpId sum = add_sum(plan_, part, owner, landed, total);
    plan_.op(message.send).priority = push_priority(worker.machine, placed);
    plan_.order(worker.ready, message.send);
    plan_.order(first, sum);
    ring.slots.use(plan_, slot, message.receive, sum);
    sums.push_back(sum);
    return message.send;
  }

  // Adds the way of the sum to the worker. Returns the send, if the sum is sent.
  OpId finish(const Worker& worker, OpId push, MachineId owner, int owner_nic, const Part& part,
              const Slice& total, OpId begun, OpId complete) {
    if (at_home(worker.machine, owner)) {
      worker.sums->push_back(complete);
      return OpId::none();
    }
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
    worker.sums->push_back(message.receive);
    return message.send;
  }

  // Adds a message of one element, which the owner must receive before it sends the sum.
  Message request(const Worker& worker, OpId push, MachineId owner, int owner_nic, const Part& part,
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
  NumaTurns numas_;                // for accumulators
  std::vector<PlacedPart> parts_;  // in the order in which they are expected to be served
  std::vector<Round> round_of_;    // by part
  std::size_t owners_ = 0;
  Bytes largest_;
  std::vector<Node> nodes_;
  std::vector<Sender> senders_;
  bool apart_ = false;  // whether some machine's GPUs are separate senders
  UpdateBarrier barrier_;
};

}  // namespace

Plan exchange_plan(std::string name, const Cluster& cluster, const Workload& workload, const Options& options,
                   const LocalStageOf& stages, const Shares& shares, std::vector<PlacedPart> parts) {
  return ExchangeBuilder(std::move(name), cluster, workload, options, stages, shares, std::move(parts))
      .build();
}

}  // namespace weir
