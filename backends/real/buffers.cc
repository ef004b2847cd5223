#include "backends/real/buffers.h"

#include <algorithm>

#include "backends/real/threads.h"

namespace weir::real {

Result<std::unique_ptr<Buffers>> Buffers::make(const Plan& plan, MachineId machine) {
  const std::vector<int> nodes = numa_nodes();
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  buffers->pages_.resize(plan.buffers().size());
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.machine != machine || buffer.size == Bytes(0)) continue;
    PageWishes wishes;
    const bool host = buffer.place == Memory::Kind::kHost;
    if (host && std::find(nodes.begin(), nodes.end(), buffer.numa) != nodes.end()) wishes.numa = buffer.numa;
    for (int replica = 0; replica < buffer.replicas; ++replica) {
      auto pages = Pages::make(buffer.size, wishes);
      if (!pages) return tl::unexpected(pages.error());
      buffers->pages_[i].push_back(std::move(*pages));
    }
  }
  return buffers;
}

std::span<std::byte> Buffers::bytes(const Extent& extent) const {
  if (extent.range.size == Bytes(0)) return {};
  const auto& replicas = pages_[extent.buffer.index()];
  const auto replica = static_cast<std::size_t>(extent.replica);
  WEIR_CHECK(replica < replicas.size() && extent.range.end() <= replicas[replica]->size(), extent.buffer,
             replica);
  return {replicas[replica]->data() + extent.range.offset.count(),
          static_cast<std::size_t>(extent.range.size.count())};
}

std::vector<std::span<std::byte>> Buffers::bytes(const Slice& slice, Dtype dtype) const {
  std::vector<std::span<std::byte>> all;
  for (const Extent& extent : Extents(*plan_, slice, dtype)) {
    if (extent.range.size > Bytes(0)) all.push_back(bytes(extent));
  }
  return all;
}

}  // namespace weir::real
