#include "backends/real/compute/host_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/real/compute/kernels.h"

namespace weir::real {
namespace {

using Run = std::span<std::byte>;

void add_run(Dtype dtype, Run into, Run from) {
  WEIR_CHECK(into.size() == from.size(), into.size(), from.size());
  const std::byte* source = from.data();
  add(dtype, into.data(), {&source, 1}, Bytes(static_cast<std::int64_t>(into.size())));
}

void copy(Run into, Run from) {
  WEIR_CHECK(into.size() == from.size(), into.size(), from.size());
  std::memcpy(into.data(), from.data(), from.size());
}

void move_all(const Op& op, const Plan& plan, const Buffers& buffers) {
  std::vector<Move> moves;
  find_moves(plan, op.from, op.into, op.dtype, moves);
  for (const Move& move : moves) {
    const Run into = buffers.bytes(move.into);
    const Run from = buffers.bytes(move.from);
    if (adds_into(op.kind)) {
      add_run(op.dtype, into, from);
    } else {
      copy(into, from);
    }
  }
}

// In place on the slice's replicas; share i belongs to the i-th GPU of the group.
void collective(const Op& op, const Plan& plan, const Buffers& buffers) {
  WEIR_CHECK(meets(op.kind) == Meets::kNobody, op.id);  // the other collectives need other machines
  const std::span<const int> group = plan.group(op.into.on.group());
  const auto count = static_cast<int>(group.size());
  const bool rooted = traits(op.kind).rooted;
  const bool out = traits(op.kind).adds_up;
  const Range whole = {op.into.offset, op.into.size};
  for (int holder = 0; holder < count; ++holder) {
    if (rooted && group[static_cast<std::size_t>(holder)] != op.root) continue;
    const Range range = rooted ? whole : share(whole, op.dtype, holder, count);
    const auto on = [&](int member) {
      return buffers.bytes(Extent{op.into.buffer, group[static_cast<std::size_t>(member)], range});
    };
    const Run held = on(holder);
    if (held.empty()) continue;
    std::vector<const std::byte*> others;
    for (int member = 0; member < count; ++member) {
      if (member == holder) continue;
      if (out) {
        others.push_back(on(member).data());
      } else {
        copy(on(member), held);
      }
    }
    if (!others.empty()) add(op.dtype, held.data(), others, Bytes(static_cast<std::int64_t>(held.size())));
  }
}

// Passes over as many bytes as the optimizer's state and parameters have. The sum stays as it is.
void update(const Op& op, const Buffers& buffers) {
  thread_local std::vector<std::byte> state;
  for (const Run part : buffers.bytes(op.into, op.dtype)) {
    state.resize(std::max(state.size(), part.size()));
    for (int pass = 0; pass + 1 < op.passes; pass += 2) std::memcpy(state.data(), part.data(), part.size());
  }
}

bool gpus_can(const Op& op, const Plan& plan, const Buffers& buffers) {
  switch (op.kind) {
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kCopy:
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
    case OpKind::kAllReduce:
      return true;
    case OpKind::kSum: {
      std::vector<Move> moves;
      find_moves(plan, op.from, op.into, op.dtype, moves);
      return buffers.on_gpu(op.from.buffer) && buffers.on_gpu(op.into.buffer) &&
             std::all_of(moves.begin(), moves.end(),
                         [](const Move& move) { return move.from.replica == move.into.replica; });
    }
    case OpKind::kSend:
    case OpKind::kReceive:
    case OpKind::kUpdate:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
      return false;
  }
  return false;
}

}  // namespace

bool is_on_gpus(const Op& op, const Plan& plan) {
  const auto on_gpu = [&](const Slice& slice) {
    return slice.buffer.valid() && plan.buffer(slice.buffer).place == Memory::Kind::kGpu;
  };
  switch (family(op.kind)) {
    case OpFamily::kCompute:
    case OpFamily::kCollective:
      return true;
    case OpFamily::kMemory:
      return on_gpu(op.from) || on_gpu(op.into);
    case OpFamily::kMessage:
    case OpFamily::kDelay:
    case OpFamily::kControl:
      return false;
  }
  return false;
}

Result<void> check_on_gpus(const Op& op, const Plan& plan, const Buffers& buffers) {
  if (gpus_can(op, plan, buffers)) return {};
  return failure(fmt::format("op {} ({}): a GPU only sums what is in its own memory, and runs no updates",
                             op.id, name(op.kind)));
}

void work_on(const Op& op, const Plan& plan, const Buffers& buffers) {
  switch (op.kind) {
    case OpKind::kSum:
    case OpKind::kCopy:
      return move_all(op, plan, buffers);
    case OpKind::kUpdate:
      return update(op, buffers);
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
    case OpKind::kAllReduce:
      return collective(op, plan, buffers);
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kSend:
    case OpKind::kReceive:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
      break;
  }
  WEIR_CHECK(false, op.id);  // these do no work in memory
}

}  // namespace weir::real
