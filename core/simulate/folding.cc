#include "core/simulate/folding.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace weir {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}

// Matches the ops of working machines by what comes before and after them.
class Folder {
 public:
  Folder(const Plan& plan, const Cluster& cluster, const WorkTable& works)
      : plan_(plan), cluster_(cluster), works_(works) {}

  std::optional<Folding> fold() {
    if (!alike() || !match() || !same()) return std::nullopt;
    return folding();
  }

 private:
  std::size_t count() const { return plan_.ops(machines_[0]).size(); }
  OpId op_of(std::size_t machine, std::uint32_t rank) const { return ranked_[machine * count() + rank]; }
  // How many places after `machine` the other comes, cyclically.
  std::uint32_t distance(MachineId machine, MachineId other) const {
    const std::size_t n = machines_.size();
    return static_cast<std::uint32_t>((number_[other.index()] + n - number_[machine.index()]) % n);
  }
  OpId other_end(const Op& op) const { return plan_.messages()[op.message.index()].other(op.id); }

  // A quick check whether the machines look alike.
  bool alike() {
    if (!plan_.all_reduces().empty()) return false;
    number_.assign(plan_.machines(), kNone);
    for (std::size_t i = 0; i < plan_.machines(); ++i) {
      const MachineId machine(i);
      if (plan_.ops(machine).empty()) continue;
      number_[i] = static_cast<std::uint32_t>(machines_.size());
      machines_.push_back(machine);
      if (plan_.ops(machine).size() != count() ||
          cluster_.machine_class(machine) != cluster_.machine_class(machines_[0]))
        return false;
    }
    if (machines_.size() < 2) return false;
    for (const MessageEnds& ends : plan_.messages()) {
      if (!ends.send.valid() || !ends.receive.valid()) return false;
    }
    const auto looks = [&](MachineId machine) {
      std::uint64_t sum = 0;
      for (const Op& op : plan_.ops(machine)) sum += mixed(look(op));
      return sum;
    };
    const std::uint64_t first = looks(machines_[0]);
    if (std::ranges::any_of(machines_, [&](MachineId machine) { return looks(machine) != first; }))
      return false;
    return true;
  }

  // A hash of what distinguishes an op, wherever it stands in the plan.
  std::uint64_t look(const Op& op) const {
    std::uint64_t hash = static_cast<std::uint64_t>(op.kind);
    const auto add = [&](std::int64_t value) { hash = mixed(hash * 31 + static_cast<std::uint64_t>(value)); };
    add(op.priority);
    add(op.layer);
    add(op.root);
    add(op.nic);
    add(op.from.size.count());
    add(op.into.size.count());
    add(op.duration.ns());
    switch (meets(op.kind)) {
      case Meets::kNobody:
        break;
      case Meets::kOtherEnd:
        add(distance(op.machine, op.peer));
        break;
      case Meets::kMachines:
        break;  // alike() rejects plans with such ops
    }
    return hash;
  }

  // Orders each machine's ops so that ops of two machines match: by hashes of everything before and after
  // them, also across messages, and by id where these are equal. False if the plan has a cycle.
  bool match() {
    const std::span<const Op> ops = plan_.ops();
    std::vector<std::uint32_t> waits(ops.size());
    std::vector<std::uint64_t> before(ops.size(), 0);
    std::vector<std::uint64_t> after(ops.size(), 0);
    std::vector<OpId> order;
    order.reserve(ops.size());
    for (const Op& op : ops) {
      waits[op.id.index()] = plan_.waits(op.id) + (op.kind == OpKind::kReceive ? 1 : 0);
      if (waits[op.id.index()] == 0) order.push_back(op.id);
    }
    const auto each_next = [&](const Op& op, const auto& call) {
      for (const Successor next : plan_.successors(op.id)) {
        if (next.carried == 0) call(OpId(static_cast<std::size_t>(next.op)), std::uint64_t{1});
      }
      if (op.kind == OpKind::kSend) call(other_end(op), std::uint64_t{2});
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Op& op = plan_.op(order[i]);
      std::uint64_t& hash = before[op.id.index()];
      hash = mixed(hash + look(op));
      each_next(op, [&](OpId next, std::uint64_t how) {
        before[next.index()] += mixed(hash + how);
        if (--waits[next.index()] == 0) order.push_back(next);
      });
    }
    if (order.size() < ops.size()) return false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const Op& op = plan_.op(order[i]);
      std::uint64_t sum = look(op);
      each_next(op, [&](OpId next, std::uint64_t how) { sum += mixed(after[next.index()] + how); });
      after[op.id.index()] = mixed(sum);
    }
    rank_.resize(ops.size());
    for (const MachineId machine : machines_) {
      const std::size_t first = ranked_.size();
      for (const Op& op : plan_.ops(machine)) ranked_.push_back(op.id);
      std::sort(ranked_.begin() + static_cast<std::ptrdiff_t>(first), ranked_.end(), [&](OpId a, OpId b) {
        return std::tuple(before[a.index()], after[a.index()], a) <
               std::tuple(before[b.index()], after[b.index()], b);
      });
      for (std::uint32_t i = 0; i < count(); ++i) rank_[ranked_[first + i].index()] = i;
    }
    return true;
  }

  // Whether renumbering the machines cyclically gives the plan itself.
  bool same() {
    path_of_.assign(works_.paths().size(), -1);
    channel_of_.assign(works_.channels(), kNone);
    std::vector<std::uint32_t> taken(works_.channels());
    for (std::size_t i = 1; i < machines_.size(); ++i) {
      std::ranges::fill(taken, kNone);
      for (std::uint32_t rank = 0; rank < count(); ++rank) {
        const Op& op = plan_.op(op_of(i, rank));
        const Op& first = plan_.op(op_of(0, rank));
        if (!same(op, first) || !same_edges(op, first) || !same_work(op, first, taken)) return false;
      }
    }
    return true;
  }

  bool same(const Op& a, const Op& b) const {
    const auto all = [](const Op& op) {
      return std::tuple(op.kind, op.dtype, op.priority, op.layer, op.root, op.nic, op.passes, op.duration);
    };
    if (all(a) != all(b) || !same(a.from, b.from) || !same(a.into, b.into)) return false;
    if (!is_message(a.kind)) return true;
    return distance(a.machine, a.peer) == distance(b.machine, b.peer) &&
           rank_[other_end(a).index()] == rank_[other_end(b).index()];
  }

  bool same(const Slice& a, const Slice& b) const {
    if (a.size != b.size || a.on != b.on || a.buffer.valid() != b.buffer.valid()) return false;
    if (!a.buffer.valid()) return true;
    const auto all = [&](const Slice& slice) {
      const Buffer& buffer = plan_.buffer(slice.buffer);
      return std::tuple(buffer.role, buffer.place, buffer.numa, buffer.replicas);
    };
    return all(a) == all(b);
  }

  bool same_edges(const Op& a, const Op& b) const {
    const auto all = [&](const Op& op) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
      for (const Successor next : plan_.successors(op.id)) found.emplace_back(rank_[next.op], next.carried);
      std::ranges::sort(found);
      return found;
    };
    return all(a) == all(b);
  }

  // `taken`: by channel of the first machine, the matching channel of the op's machine.
  bool same_work(const Op& op, const Op& first, std::vector<std::uint32_t>& taken) {
    const Work& a = works_.of(op.id);
    const Work& b = works_.of(first.id);
    const auto all = [](const Work& work) {
      return std::tuple(work.connections, work.size, work.hold, work.latency, work.path == Work::kNoPath,
                        work.strands == Work::kOneFlow);
    };
    if (all(a) != all(b)) return false;
    if (!asks(op.kind)) return true;
    const Resource& ours = works_.resources()[a.resource];
    const Resource& theirs = works_.resources()[b.resource];
    if (ours.machine != op.machine || theirs.machine != first.machine || ours.kind != theirs.kind ||
        ours.index != theirs.index)
      return false;
    if (op.kind == OpKind::kSend) {
      std::uint32_t& channel = channel_of_[a.channel];
      if (channel == kNone && taken[b.channel] == kNone) {
        channel = b.channel;
        taken[b.channel] = a.channel;
      }
      if (channel != b.channel || taken[b.channel] != a.channel) return false;
    }
    if (a.path == Work::kNoPath) return true;
    const std::span<const int> strands = works_.strands(a);
    const std::span<const int> others = works_.strands(b);
    return same_path(op.machine, a.path, b.path) &&
           std::ranges::equal(strands, others, [&](int x, int y) { return same_path(op.machine, x, y); });
  }

  bool same_path(MachineId machine, int path, int first) {
    int& known = path_of_[static_cast<std::size_t>(path)];
    if (known >= 0) return known == first;
    const auto turned = [&](MachineId from, int which) {
      std::vector<std::tuple<std::uint32_t, std::size_t, int>> found;
      for (const LinkUse& use : works_.paths()[static_cast<std::size_t>(which)]) {
        const auto [at, place] = place_of(use.link);
        if (!at.valid() || number_[at.index()] == kNone) return decltype(found)();
        found.emplace_back(distance(from, at), place, use.weight);
      }
      std::ranges::sort(found);
      return found;
    };
    const auto ours = turned(machine, path);
    if (ours.empty() || ours != turned(machines_[0], first)) return false;
    known = first;
    return true;
  }

  // A link's machine and the link's place among the machine's links; none for links of the network.
  std::pair<MachineId, std::size_t> place_of(LinkId link) const {
    const std::optional<MachineId> machine = cluster_.machine_of(link);
    if (!machine) return {};
    return {*machine, link.index() - cluster_.first_link(*machine).index()};
  }

  Folding folding() const {
    PlanBuilder builder(plan_.strategy(), plan_.machines());
    builder.set_message_efficiency(plan_.message_efficiency());
    if (!plan_.paced()) builder.do_not_pace();
    for (const Buffer& buffer : plan_.buffers()) builder.add(buffer);
    for (const std::vector<int>& group : plan_.groups()) builder.group(group);
    const std::span<const Op> ops = plan_.ops(machines_[0]);
    const std::size_t first = ops.front().id.index();
    // A receive gets the message of this machine's send that represents the send it receives from.
    std::vector<MessageId> messages(count());  // by rank of the send
    for (const Op& op : ops) {
      if (op.kind == OpKind::kSend) messages[rank_[op.id.index()]] = builder.add_message();
    }
    for (const Op& op : ops) {
      Op one = op;
      if (is_message(op.kind)) {
        const OpId send = op.kind == OpKind::kSend ? op.id : other_end(op);
        one.message = messages[rank_[send.index()]];
        one.peer = op.machine;
      }
      builder.add(one);
    }
    for (const Op& op : ops) {
      for (const Successor next : plan_.successors(op.id)) {
        const OpId before(op.id.index() - first);
        const OpId after(next.op - first);
        next.carried != 0 ? builder.carry(before, after) : builder.order(before, after);
      }
    }
    Folding folding;
    folding.plan = std::make_unique<const Plan>(std::move(builder).build());
    std::vector<LinkId> links;  // by link: the first machine's
    for (std::size_t i = 0; i < cluster_.links().size(); ++i) {
      const auto [machine, place] = place_of(LinkId(i));
      links.push_back(machine.valid() && number_[machine.index()] != kNone
                          ? LinkId(cluster_.first_link(machines_[0]).index() + place)
                          : LinkId(i));
    }
    folding.works = std::make_unique<const WorkTable>(works_, *folding.plan, OpId(first), links);
    folding.by.resize(plan_.ops().size());
    for (const Op& op : plan_.ops())
      folding.by[op.id.index()] = OpId(op_of(0, rank_[op.id.index()]).index() - first);
    return folding;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const WorkTable& works_;
  std::vector<MachineId> machines_;        // machines with ops
  std::vector<std::uint32_t> number_;      // by machine: its index in machines_
  std::vector<OpId> ranked_;               // the ops of each machine in turn, in matching order
  std::vector<std::uint32_t> rank_;        // by op: its place among its machine's
  std::vector<int> path_of_;               // by path: the first machine's matching path, if known
  std::vector<std::uint32_t> channel_of_;  // by channel: likewise
};

}  // namespace

Record Folding::unfold(const Record& folded) const {
  Record record(by.size(), static_cast<int>(folded.iterations.size()));
  for (std::size_t i = 0; i < folded.iterations.size(); ++i) {
    for (std::size_t op = 0; op < by.size(); ++op)
      record.iterations[i][op] = folded.iterations[i][by[op].index()];
  }
  return record;
}

std::optional<Folding> fold(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  return Folder(plan, cluster, works).fold();
}

}  // namespace weir
