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
    if (op.kind == OpKind::kSum) {
      add_run(op.dtype, into, from);
    } else {
      copy(into, from);
    }
  }
}

// In place on the slice's replicas; share i belongs to the i-th GPU of the group.
void collective(const Op& op, const Plan& plan, const Buffers& buffers) {
  WEIR_CHECK(op.kind != OpKind::kAllReduce, op.id);  // which other machines take part in
  const std::span<const int> group = plan.group(op.into.on.group());
  const auto count = static_cast<int>(group.size());
  const bool rooted = op.kind == OpKind::kReduce || op.kind == OpKind::kBroadcast;
  const bool out = op.kind == OpKind::kReduce || op.kind == OpKind::kReduceScatter;
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

// Passes over as many bytes as the optimizer's state and parameters have; the sum stays as it is.
void update(const Op& op, const Buffers& buffers) {
  thread_local std::vector<std::byte> state;
  for (const Run part : buffers.bytes(op.into, op.dtype)) {
    state.resize(std::max(state.size(), part.size()));
    for (int pass = 0; pass + 1 < op.passes; pass += 2) std::memcpy(state.data(), part.data(), part.size());
  }
}

}  // namespace

bool is_memory_work(OpKind kind) {
  return kind == OpKind::kSum || kind == OpKind::kUpdate || kind == OpKind::kCopy || is_collective(kind);
}

bool is_on_gpus(const Op& op, const Plan& plan) {
  if (is_compute(op.kind) || is_collective(op.kind)) return true;
  if (is_message(op.kind)) return false;
  const auto on_gpu = [&](const Slice& slice) {
    return slice.buffer.valid() && plan.buffer(slice.buffer).place == Memory::Kind::kGpu;
  };
  return on_gpu(op.from) || on_gpu(op.into);
}

Result<void> check_on_gpus(const Op& op, const Plan& plan, const Buffers& buffers) {
  bool can = op.kind != OpKind::kUpdate;
  if (op.kind == OpKind::kSum) {
    std::vector<Move> moves;
    find_moves(plan, op.from, op.into, op.dtype, moves);
    can = buffers.on_gpu(op.from.buffer) && buffers.on_gpu(op.into.buffer) &&
          std::all_of(moves.begin(), moves.end(),
                      [](const Move& move) { return move.from.replica == move.into.replica; });
  }
  if (can) return {};
  return failure(fmt::format("op {} ({}): GPUs sum what lies on the same GPU, and update nothing", op.id,
                             name(op.kind)));
}

void work_on(const Op& op, const Plan& plan, const Buffers& buffers) {
  if (is_collective(op.kind)) return collective(op, plan, buffers);
  if (op.kind == OpKind::kUpdate) return update(op, buffers);
  move_all(op, plan, buffers);
}

}  // namespace weir::real
