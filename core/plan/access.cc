#include "core/plan/access.h"

#include <optional>

namespace weir {
namespace {

std::span<const int> gpus_of(const Plan& plan, const Slice& slice) {
  return slice.on.single() ? std::span<const int>() : plan.group(slice.on.group());
}

int replicas(const Plan& plan, const Slice& slice) {
  return slice.on.single() ? 1 : static_cast<int>(plan.group(slice.on.group()).size());
}

std::optional<Access::Kind> access_of(SliceUse use) {
  switch (use) {
    case SliceUse::kNothing:
      return std::nullopt;
    case SliceUse::kReads:
      return Access::Kind::kRead;
    case SliceUse::kAdds:
      return Access::Kind::kAdd;
    case SliceUse::kWrites:
      return Access::Kind::kWrite;
  }
  return std::nullopt;
}

}  // namespace

Extents::Extents(const Plan& plan, const Slice& slice, Dtype dtype)
    : slice_(slice),
      dtype_(dtype),
      count_(replicas(plan, slice)),
      shares_(slice.on.kind == Replicas::Kind::kShards),
      gpus_(gpus_of(plan, slice)) {}

Extents::Extents(const Slice& slice, Dtype dtype, int count)
    : slice_(slice), dtype_(dtype), count_(count), shares_(true) {}

Extent Extents::operator[](int i) const {
  const Range whole{slice_.offset, slice_.size};
  const int replica = gpus_.empty() ? slice_.on.index : gpus_[static_cast<std::size_t>(i)];
  return {slice_.buffer, replica, shares_ ? share(whole, dtype_, i, count_) : whole};
}

bool movable(const Plan& plan, const Slice& from, const Slice& into) {
  if (from.on.kind == Replicas::Kind::kEach || into.on.kind == Replicas::Kind::kEach) return false;
  if (replicas(plan, from) == replicas(plan, into)) return true;
  const auto host = [&](const Slice& slice) {
    return plan.buffer(slice.buffer).place == Memory::Kind::kHost;
  };
  return plan.buffer(from.buffer).machine == plan.buffer(into.buffer).machine && (host(from) || host(into));
}

void find_moves(const Plan& plan, const Slice& from, const Slice& into, Dtype dtype, std::vector<Move>& all) {
  const int sources = replicas(plan, from);
  const int targets = replicas(plan, into);
  const Extents out = sources < targets ? Extents(from, dtype, targets) : Extents(plan, from, dtype);
  const Extents in = targets < sources ? Extents(into, dtype, sources) : Extents(plan, into, dtype);
  all.clear();
  for (int i = 0; i < out.size(); ++i) {
    const Extent source = out[i];
    if (source.range.size > Bytes(0)) all.push_back({source, in[i]});
  }
}

void append_accesses(const Plan& plan, const Op& op, std::vector<Access>& accesses) {
  const auto append = [&](const Slice& slice, SliceUse use) {
    const std::optional<Access::Kind> kind = access_of(use);
    if (!kind || slice.size == Bytes(0)) return;
    for (const Extent& extent : Extents(plan, slice, op.dtype)) {
      if (extent.range.size > Bytes(0)) accesses.push_back({*kind, extent});
    }
  };
  append(op.from, traits(op.kind).from);
  append(op.into, traits(op.kind).into);
}

}  // namespace weir
