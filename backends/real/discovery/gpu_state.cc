#include "backends/real/discovery/gpu_state.h"

#include <cstddef>
#include <span>

#include "backends/real/memory/gpus.h"
#include "backends/real/memory/pages.h"

namespace weir::real {
namespace {

constexpr Bytes kPinned(64 << 20);

Result<void> try_pinning() {
  const auto gpus = Gpus::open({0});
  if (!gpus) return tl::unexpected(gpus.error());
  const auto pages = Pages::make(kPinned);
  if (!pages) return tl::unexpected(pages.error());
  const std::span<std::byte> memory((*pages)->data(), static_cast<std::size_t>(kPinned.count()));
  auto pinned = Gpus::pin(memory);
  if (pinned) Gpus::unpin(memory);
  return pinned;
}

}  // namespace

GpuState try_gpus() { return {cuda_versions(), gpu_ids(), gpus_apart(), try_pinning(), nccl_version()}; }

}  // namespace weir::real
