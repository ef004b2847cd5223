#include "core/plan/print.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace weir {
namespace {

std::string_view name(Buffer::Role role) {
  switch (role) {
    case Buffer::Role::kGradient:
      return "gradient";
    case Buffer::Role::kStaging:
      return "staging";
    case Buffer::Role::kAccumulator:
      return "accumulator";
    case Buffer::Role::kScratch:
      return "scratch";
  }
  return "unknown";
}

// The ops that each op waits for, in order of id.
struct Waits {
  explicit Waits(const Plan& plan) : same(plan.ops().size()), carried(plan.ops().size()) {
    for (const Op& op : plan.ops()) {
      for (const Successor successor : plan.successors(op.id)) {
        (successor.carried != 0 ? carried : same)[successor.id().index()].push_back(op.id);
      }
    }
  }
  std::vector<std::vector<OpId>> same;     // of this iteration
  std::vector<std::vector<OpId>> carried;  // of the one before
};

template <class... Arguments>
void append(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

void append_buffer(std::string& out, const Plan& plan, std::size_t index) {
  const Buffer& buffer = plan.buffers()[index];
  append(out, "b{} {} on machine {} ", index, name(buffer.role), buffer.machine);
  if (buffer.place == Memory::Kind::kHost) {
    append(out, "numa {}", buffer.numa);
  } else {
    append(out, "gpus {}", buffer.replicas);
  }
  append(out, " bytes {}\n", buffer.size.count());
}

// ":3", ":every", ":shards", or ":every{0,1}" for some of the buffer's GPUs; nothing for host memory.
std::string replicas_text(const Plan& plan, const Slice& slice) {
  const bool known = slice.buffer.index() < plan.buffers().size();
  if (slice.on.single()) {
    const bool host = known && plan.buffer(slice.buffer).place == Memory::Kind::kHost;
    return host && slice.on.index == 0 ? std::string() : fmt::format(":{}", slice.on.index);
  }
  const std::string_view how = slice.on.kind == Replicas::Kind::kEach ? ":every" : ":shards";
  if (slice.on.group().index() >= plan.groups().size()) return fmt::format("{}{{?}}", how);
  const std::span<const int> group = plan.group(slice.on.group());
  const bool all = known && group.size() == static_cast<std::size_t>(plan.buffer(slice.buffer).replicas);
  return all ? std::string(how) : fmt::format("{}{{{}}}", how, fmt::join(group, ","));
}

// The fields that only ops of its kind have.
void append_own(std::string& out, const Op& op) {
  switch (op.kind) {
    case OpKind::kSend:
    case OpKind::kReceive:
      return append(out, " message {} {} {}", op.message, peer_word(op.kind), op.peer);
    case OpKind::kUpdate:
      return append(out, " passes {}", op.passes);
    case OpKind::kReduce:
    case OpKind::kBroadcast:
      return append(out, " root {}", op.root);
    case OpKind::kAllReduce:
      return append(out, " number {}", op.all_reduce);
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kSum:
    case OpKind::kCopy:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
      return;
  }
}

// The op without the ops that it waits for.
void append_op(std::string& out, const Plan& plan, const Op& op) {
  append(out, "{} {}", op.id, weir::name(op.kind));
  if (op.into.buffer.valid()) append(out, " {}", text(plan, op.into));
  if (op.into.buffer.valid() && op.from.buffer.valid()) out += adds_into(op.kind) ? " +=" : " =";
  if (op.from.buffer.valid()) append(out, " {}", text(plan, op.from));
  append_own(out, op);
  if (op.nic != 0) append(out, " nic {}", op.nic);
  if (op.layer >= 0) append(out, " layer {}", op.layer);
  if (op.dtype != Dtype::kF32) append(out, " {}", weir::name(op.dtype));
  if (op.priority != 0) append(out, " priority {}", op.priority);
  if (has_duration(op.kind)) append(out, " {}ns", op.duration.ns());
}

void append_list(std::string& out, std::string_view title, const std::vector<OpId>& ops) {
  if (ops.empty()) return;
  append(out, " {}", title);
  for (const OpId op : ops) append(out, " {}", op);
}

}  // namespace

std::string words(const Op& op) {
  std::string out = fmt::format("op {} ({} on machine {}", op.id, name(op.kind), op.machine);
  if (is_message(op.kind)) append(out, " {} {}", peer_word(op.kind), op.peer);
  if (op.layer >= 0) append(out, ", layer {}", op.layer);
  return out + ")";
}

std::string text(const Plan& plan, const Slice& slice) {
  return fmt::format("b{}{}[{}+{}]", slice.buffer, replicas_text(plan, slice), slice.offset.count(),
                     slice.size.count());
}

std::string text(const Plan& plan) {
  std::string out = fmt::format("plan {}: {} machines, {} ops, {} messages\n", plan.strategy(),
                                plan.machines(), plan.ops().size(), plan.messages().size());
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) append_buffer(out, plan, i);
  const Waits waits(plan);
  const std::size_t width = std::to_string(plan.ops().size()).size() + 2;
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    append(out, "machine {}\n", machine);
    for (const Op& op : plan.ops(MachineId(machine))) {
      out.append(width - std::min(width, std::to_string(op.id.index()).size()), ' ');
      append_op(out, plan, op);
      append_list(out, "after", waits.same[op.id.index()]);
      append_list(out, "carried", waits.carried[op.id.index()]);
      out += '\n';
    }
  }
  return out;
}

std::string graphviz(const Plan& plan) {
  std::string out = "digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    append(out, "  subgraph cluster_{} {{\n    label=\"machine {}\";\n", machine, machine);
    for (const Op& op : plan.ops(MachineId(machine))) {
      append(out, "    op{} [label=\"", op.id);
      append_op(out, plan, op);
      out += "\"];\n";
    }
    out += "  }\n";
  }
  for (const Op& op : plan.ops()) {
    for (const Successor successor : plan.successors(op.id)) {
      append(out, "  op{} -> op{}{};\n", op.id, successor.id(),
             successor.carried != 0 ? " [style=dashed, constraint=false]" : "");
    }
  }
  for (std::size_t i = 0; i < plan.messages().size(); ++i) {
    const MessageEnds& ends = plan.messages()[i];
    if (!ends.send.valid() || !ends.receive.valid()) continue;
    append(out, "  op{} -> op{} [label=\"{}\", style=bold, color=blue];\n", ends.send, ends.receive, i);
  }
  for (const std::vector<OpId>& ops : plan.all_reduces()) {
    for (std::size_t i = 1; i < ops.size(); ++i)
      append(out, "  op{} -> op{} [dir=none, style=bold, color=blue];\n", ops[i - 1], ops[i]);
  }
  return out + "}\n";
}

}  // namespace weir
