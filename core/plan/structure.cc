#include "core/plan/structure.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/plan/access.h"
#include "core/plan/print.h"

namespace weir {
namespace {

class Structure {
 public:
  explicit Structure(const Plan& plan) : plan_(plan) {}

  ProofErrors check() && {
    for (std::size_t i = 0; i < plan_.buffers().size(); ++i) check_buffer(i);
    for (std::size_t i = 0; i < plan_.groups().size(); ++i) check_group(i);
    check_gradients();
    if (!findings_.empty()) return findings_;
    for (const Op& op : plan_.ops()) check_op(op);
    if (!findings_.empty()) return findings_;
    check_messages();
    check_all_reduces();
    return findings_;
  }

 private:
  void check_buffer(std::size_t index) {
    const Buffer& buffer = plan_.buffers()[index];
    const auto complain = [&](std::string_view what) {
      findings_.add(fmt::format("buffer b{}: {}", index, what));
    };
    if (buffer.machine.index() >= plan_.machines()) complain("its machine does not exist");
    if (buffer.size < Bytes(0)) complain("its size is negative");
    if (buffer.numa < 0) complain("its NUMA node is negative");
    const bool host = buffer.place == Memory::Kind::kHost;
    if (host && buffer.replicas != 1) complain("a host buffer must have one replica");
    if (buffer.replicas < 1) complain("a GPU buffer must have at least one replica");
    if (host && buffer.role == Buffer::Role::kGradient) complain("a gradient buffer must be on GPUs");
  }

  // An offset in a gradient buffer names a byte of the model. So every machine must have exactly one such
  // buffer, and all must be equally large.
  void check_gradients() {
    std::vector<BufferId> gradients(plan_.machines());
    BufferId first;
    for (std::size_t i = 0; i < plan_.buffers().size(); ++i) {
      const Buffer& buffer = plan_.buffers()[i];
      if (buffer.role != Buffer::Role::kGradient || buffer.machine.index() >= plan_.machines()) continue;
      BufferId& own = gradients[buffer.machine.index()];
      if (own.valid()) {
        findings_.add(
            fmt::format("machine {} has two gradient buffers, b{} and b{}", buffer.machine, own, i));
      }
      own = BufferId(i);
      if (!first.valid()) first = own;
      if (plan_.buffer(first).size != buffer.size) {
        findings_.add(fmt::format("gradient buffers differ in size: b{} has {} bytes, b{} has {}", first,
                                  plan_.buffer(first).size.count(), i, buffer.size.count()));
      }
    }
  }

  void complain(const Op& op, std::string_view what) {
    findings_.add(fmt::format("{}: {}", words(op), what));
  }

  void check_op(const Op& op) {
    switch (op.kind) {
      case OpKind::kBackward:
      case OpKind::kForward:
        return check_compute(op);
      case OpKind::kSend:
      case OpKind::kReceive:
        return check_end(op);
      case OpKind::kSum:
      case OpKind::kCopy:
        return check_move(op);
      case OpKind::kUpdate:
        return check_update(op);
      case OpKind::kJoin:
      case OpKind::kWait:
      case OpKind::kHold:
        return check_pause(op);
      case OpKind::kReduceScatter:
      case OpKind::kAllGather:
      case OpKind::kReduce:
      case OpKind::kBroadcast:
      case OpKind::kAllReduce:
        return check_collective(op);
    }
  }

  void check_pause(const Op& op) {
    if (op.duration < Duration(0)) complain(op, "its duration is negative");
    check_unused(op, op.from, "from");
    check_unused(op, op.into, "into");
  }

  void check_move(const Op& op) {
    if (!check_slice(op, op.from, "from") || !check_slice(op, op.into, "into")) return;
    if (op.from.size != op.into.size) {
      complain(op, fmt::format("reads {} bytes and writes {}", op.from.size.count(), op.into.size.count()));
    } else if (!movable(plan_, op.from, op.into)) {
      complain(op,
               fmt::format("{} and {} do not lie on the same number of GPUs, and neither is in host memory",
                           text(plan_, op.from), text(plan_, op.into)));
    } else if (overlapping(op)) {
      complain(op, fmt::format("{} and {} overlap", text(plan_, op.from), text(plan_, op.into)));
    } else if (adds_into(op.kind) && !in_one_memory(op)) {
      complain(
          op, fmt::format("{} and {} lie in different memories", text(plan_, op.from), text(plan_, op.into)));
    }
  }

  void check_compute(const Op& op) {
    const bool writes = writes_into(op.kind);
    const Slice& slice = main_slice(op);
    check_unused(op, writes ? op.from : op.into, writes ? "from" : "into");
    if (op.duration < Duration(0)) complain(op, "its duration is negative");
    if (slice.size == Bytes(0)) return;  // a layer without tensors
    if (!check_place(op, slice, writes ? "into" : "from")) return;
    if (slice.on.kind != Replicas::Kind::kEach || !covers(slice)) {
      complain(op, "its slice must be on every GPU");
    }
    if (plan_.buffer(slice.buffer).role != Buffer::Role::kGradient) {
      complain(op, fmt::format("{} is not in a gradient buffer", text(plan_, slice)));
    }
  }

  void check_collective(const Op& op) {
    check_unused(op, op.from, "from");
    if (!check_slice(op, op.into, "into")) return;
    const Buffer& buffer = plan_.buffer(op.into.buffer);
    if (buffer.place != Memory::Kind::kGpu) return complain(op, "works on GPU buffers only");
    if (op.into.on.kind != Replicas::Kind::kEach) {
      return complain(op, "its slice must be on each GPU of a group");
    }
    const std::span<const int> group = plan_.group(op.into.on.group());
    if (traits(op.kind).rooted && std::find(group.begin(), group.end(), op.root) == group.end()) {
      complain(op, fmt::format("its root, GPU {}, is not in its group", op.root));
    }
  }

  void check_update(const Op& op) {
    check_unused(op, op.from, "from");
    if (!check_slice(op, op.into, "into")) return;
    if (plan_.buffer(op.into.buffer).place != Memory::Kind::kHost) complain(op, "works on host memory only");
    if (op.passes < 1) complain(op, "it must pass over memory at least once");
  }

  void check_end(const Op& op) {
    const bool writes = writes_into(op.kind);
    check_unused(op, writes ? op.from : op.into, writes ? "from" : "into");
    const Slice& slice = main_slice(op);
    const bool valid = check_slice(op, slice, writes ? "into" : "from");
    if (valid && slice.on.kind == Replicas::Kind::kEach)
      complain(op, "a message must have one copy or shards, not a copy on every GPU");
    if (op.nic < 0) complain(op, "its NIC is negative");
    if (op.message.index() >= plan_.messages().size()) complain(op, "its message does not exist");
    if (op.peer.index() >= plan_.machines()) complain(op, "its peer does not exist");
  }

  void check_unused(const Op& op, const Slice& slice, std::string_view which) {
    if (slice != Slice{}) complain(op, fmt::format("must not have a slice '{}'", which));
  }

  // Checks a slice whose bytes are communicated.
  bool check_slice(const Op& op, const Slice& slice, std::string_view which) {
    if (!slice.buffer.valid()) return complain(op, fmt::format("needs a slice '{}'", which)), false;
    if (slice.size == Bytes(0)) return complain(op, fmt::format("its slice '{}' is empty", which)), false;
    if (!check_place(op, slice, which)) return false;
    const std::int64_t element = size(op.dtype).count();
    if (slice.offset.count() % element != 0 || slice.size.count() % element != 0) {
      complain(op, fmt::format("{} is not made of whole elements of {} bytes", text(plan_, slice), element));
      return false;
    }
    return true;
  }

  bool check_place(const Op& op, const Slice& slice, std::string_view which) {
    if (slice.buffer.index() >= plan_.buffers().size()) {
      return complain(op, fmt::format("the buffer of its slice '{}' does not exist", which)), false;
    }
    const Buffer& buffer = plan_.buffer(slice.buffer);
    const auto wrong = [&](const std::string& what) {
      complain(op, fmt::format("{} {}", text(plan_, slice), what));
      return false;
    };
    if (buffer.machine != op.machine) return wrong(fmt::format("lies on machine {}", buffer.machine));
    if (slice.offset < Bytes(0) || slice.size < Bytes(0) || slice.size > buffer.size - slice.offset) {
      return wrong(fmt::format("lies outside its buffer of {} bytes", buffer.size.count()));
    }
    if (slice.on.single())
      return slice.on.index < buffer.replicas || wrong("names a replica that its buffer does not have");
    if (buffer.place == Memory::Kind::kHost) return wrong("names GPUs of a host buffer");
    if (slice.on.group().index() >= plan_.groups().size()) return wrong("names a group that does not exist");
    for (const int gpu : plan_.group(slice.on.group())) {
      if (gpu >= buffer.replicas) return wrong("names a replica that its buffer does not have");
    }
    return true;
  }

  // Whether the slice's group includes all GPUs of its buffer. No group lists a GPU twice.
  bool covers(const Slice& slice) const {
    return plan_.group(slice.on.group()).size() ==
           static_cast<std::size_t>(plan_.buffer(slice.buffer).replicas);
  }

  void check_group(std::size_t index) {
    const std::vector<int>& group = plan_.groups()[index];
    const auto complain = [&](std::string_view what) {
      findings_.add(fmt::format("group {}: {}", index, what));
    };
    if (group.empty()) return complain("it has no GPU");
    if (group.front() < 0) complain("a GPU's number is negative");
    if (!std::is_sorted(group.begin(), group.end(), std::less_equal())) {
      complain("its GPUs must be in ascending order, each once");
    }
  }

  bool overlapping(const Op& op) {
    if (op.from.buffer != op.into.buffer) return false;
    find_moves(plan_, op.from, op.into, op.dtype, moves_);
    for (const Move& move : moves_) {
      const Extent& a = move.from;
      const Extent& b = move.into;
      const bool apart = a.range.end() <= b.range.offset || b.range.end() <= a.range.offset;
      if (a.replica == b.replica && !apart) return true;
    }
    return false;
  }

  bool in_one_memory(const Op& op) const {
    const Buffer& from = plan_.buffer(op.from.buffer);
    const Buffer& into = plan_.buffer(op.into.buffer);
    if (from.place != into.place) return false;
    if (from.place == Memory::Kind::kHost) return from.numa == into.numa;
    return op.from.on == op.into.on;
  }

  void check_messages() {
    std::vector<int> sends(plan_.messages().size());
    std::vector<int> receives(plan_.messages().size());
    for (const Op& op : plan_.ops()) {
      switch (op.kind) {
        case OpKind::kSend:
          ++sends[op.message.index()];
          break;
        case OpKind::kReceive:
          ++receives[op.message.index()];
          break;
        case OpKind::kBackward:
        case OpKind::kForward:
        case OpKind::kSum:
        case OpKind::kUpdate:
        case OpKind::kCopy:
        case OpKind::kJoin:
        case OpKind::kWait:
        case OpKind::kHold:
        case OpKind::kReduceScatter:
        case OpKind::kAllGather:
        case OpKind::kReduce:
        case OpKind::kBroadcast:
        case OpKind::kAllReduce:
          break;
      }
    }
    for (std::size_t i = 0; i < sends.size() && !findings_.full(); ++i) {
      const MessageEnds ends = plan_.messages()[i];
      if (sends[i] == 1 && receives[i] == 1) {
        check_match(plan_.op(ends.send), plan_.op(ends.receive));
      } else {
        complain_ends(MessageId(i), sends[i], receives[i]);
      }
    }
  }

  void complain_ends(MessageId message, int sends, int receives) {
    std::string line = fmt::format("message {} has {} sends and {} receives, but needs one of each", message,
                                   sends, receives);
    for (const OpKind kind : {OpKind::kSend, OpKind::kReceive}) {
      for (const Op& op : plan_.ops()) {
        if (op.kind == kind && op.message == message) line += "; " + words(op);
      }
    }
    findings_.add(line);
  }

  void check_match(const Op& send, const Op& receive) {
    const auto mismatch = [&](const std::string& what) {
      findings_.add(fmt::format("the ends of message {} do not match: {} and {}: {}", send.message,
                                words(send), words(receive), what));
    };
    if (send.peer != receive.machine || receive.peer != send.machine) mismatch("they name different peers");
    if (send.from.size != receive.into.size) {
      mismatch(fmt::format("{} bytes against {}", send.from.size.count(), receive.into.size.count()));
    } else if (!movable(plan_, send.from, receive.into)) {
      mismatch("they lie on different numbers of GPUs");
    }
    if (send.dtype != receive.dtype)
      mismatch(fmt::format("{} against {}", name(send.dtype), name(receive.dtype)));
  }

  void check_all_reduces() {
    std::vector<OpId> last(plan_.machines());  // by machine: its op of the last all-reduce so far
    for (std::size_t i = 0; i < plan_.all_reduces().size() && !findings_.full(); ++i) {
      const std::span<const OpId> ops = plan_.all_reduces()[i];
      if (ops.empty()) findings_.add(fmt::format("all-reduce {} has no op", i));
      for (std::size_t k = 0; k < ops.size(); ++k) {
        const Op& op = plan_.op(ops[k]);
        const Op& first = plan_.op(ops.front());
        if (k > 0 && plan_.op(ops[k - 1]).machine == op.machine)
          complain(op, fmt::format("all-reduce {} has another op on its machine", i));
        if (op.into.size != first.into.size || op.dtype != first.dtype) {
          complain(op, fmt::format(
                           "the ops of all-reduce {} do not match: {} bytes of {} against {} bytes of {}", i,
                           op.into.size.count(), name(op.dtype), first.into.size.count(), name(first.dtype)));
        }
        // Libraries identify an all-reduce by its place in the sequence, so all machines must use one order.
        OpId& before = last[op.machine.index()];
        if (before.valid() && !waits_for(op.id, before))
          complain(op, fmt::format("it must wait for {}, the all-reduce before it", words(plan_.op(before))));
        before = op.id;
      }
    }
  }

  bool waits_for(OpId op, OpId before) const {
    return std::ranges::any_of(plan_.successors(before), [&](const Successor successor) {
      return successor.id() == op && successor.carried == 0;
    });
  }

  const Plan& plan_;
  ProofErrors findings_;
  std::vector<Move> moves_;  // of one op; a member only to reuse its memory
};

}  // namespace

ProofErrors structure_findings(const Plan& plan) { return Structure(plan).check(); }

}  // namespace weir
