#include "core/plan/access.h"

namespace weir {
namespace {

int replicas(const Plan& plan, const Slice& slice) {
  return slice.replica >= 0 ? 1 : plan.buffer(slice.buffer).replicas;
}

// The slice, which lies on one replica, cut into as many shares as the other slice has.
std::vector<Extent> cut(const Slice& slice, Dtype dtype, int count) {
  std::vector<Extent> shares;
  shares.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    shares.push_back({slice.buffer, slice.replica, share({slice.offset, slice.size}, dtype, i, count)});
  }
  return shares;
}

}  // namespace

std::vector<Extent> extents(const Plan& plan, const Slice& slice, Dtype dtype) {
  const Range whole{slice.offset, slice.size};
  if (slice.replica >= 0) return {{slice.buffer, slice.replica, whole}};
  const int count = replicas(plan, slice);
  std::vector<Extent> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    all.push_back(
        {slice.buffer, i, slice.replica == Slice::kSharded ? share(whole, dtype, i, count) : whole});
  }
  return all;
}

bool movable(const Plan& plan, const Slice& from, const Slice& into) {
  if (from.replica == Slice::kEvery || into.replica == Slice::kEvery) return false;
  if (replicas(plan, from) == replicas(plan, into)) return true;
  const auto host = [&](const Slice& slice) {
    return plan.buffer(slice.buffer).place == Memory::Kind::kHost;
  };
  return plan.buffer(from.buffer).machine == plan.buffer(into.buffer).machine && (host(from) || host(into));
}

std::vector<Move> moves(const Plan& plan, const Slice& from, const Slice& into, Dtype dtype) {
  const int sources = replicas(plan, from);
  const int targets = replicas(plan, into);
  const std::vector<Extent> out = sources < targets ? cut(from, dtype, targets) : extents(plan, from, dtype);
  const std::vector<Extent> in = targets < sources ? cut(into, dtype, sources) : extents(plan, into, dtype);
  WEIR_CHECK(out.size() == in.size(), out.size(), in.size());
  std::vector<Move> all;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].range.size > Bytes(0)) all.push_back({out[i], in[i]});
  }
  return all;
}

void append_accesses(const Plan& plan, const Op& op, std::vector<Access>& accesses) {
  const auto append = [&](const Slice& slice, Access::Kind kind) {
    if (slice.size == Bytes(0)) return;
    for (const Extent& extent : extents(plan, slice, op.dtype)) {
      if (extent.range.size > Bytes(0)) accesses.push_back({kind, extent});
    }
  };
  append(op.from, Access::Kind::kRead);
  append(op.into, op.kind == OpKind::kSum ? Access::Kind::kAdd : Access::Kind::kWrite);
}

}  // namespace weir
