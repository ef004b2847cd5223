#include "backends/real/session/kept_tensors.h"

#include <cstring>

#include "backends/real/compute/kernels.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr Bytes kLine(64);  // a cache line, where slices begin

Bytes aligned(Bytes size) { return kLine * ((size.count() + kLine.count() - 1) / kLine.count()); }

}  // namespace

Result<std::unique_ptr<KeptTensors>> KeptTensors::make(const Plan& plan, MachineId self) {
  std::unique_ptr<KeptTensors> kept(new KeptTensors);
  Bytes size;
  for (const Op& op : plan.ops(self)) {
    if (op.kind == OpKind::kUpdate) size += aligned(op.into.size);
  }
  if (size == Bytes(0)) return kept;
  auto pages = Pages::make(size);
  if (!pages) return failure(fmt::format("cannot keep {} of tensors: {}", text(size), pages.error().text));
  kept->pages_ = std::move(*pages);
  std::byte* next = kept->pages_->data();
  for (const Op& op : plan.ops(self)) {
    if (op.kind != OpKind::kUpdate) continue;
    kept->parts_[op.id].bytes = {next, static_cast<std::size_t>(op.into.size.count())};
    next += aligned(op.into.size).count();
  }
  return kept;
}

void KeptTensors::add(const Op& update, std::span<std::byte> bytes) {
  const auto found = parts_.find(update.id);
  WEIR_CHECK(found != parts_.end() && found->second.bytes.size() == bytes.size(), update.id, bytes.size());
  Part& part = found->second;
  const std::byte* const delta = bytes.data();
  const std::lock_guard lock(part.mutex);
  real::add(update.dtype, part.bytes.data(), {&delta, 1}, Bytes(static_cast<std::int64_t>(bytes.size())));
  std::memcpy(bytes.data(), part.bytes.data(), bytes.size());
}

}  // namespace weir::real
