#include "backends/real/buffers.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace weir::real {

Result<std::unique_ptr<Buffers>> Buffers::make(const Plan& plan, MachineId machine) {
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  buffers->buffers_.resize(plan.buffers().size());
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.machine != machine || buffer.size == Bytes(0)) continue;
    for (int replica = 0; replica < buffer.replicas; ++replica) {
      const auto size = static_cast<std::size_t>(buffer.size.count());
      void* at =
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (at == MAP_FAILED) {
        return failure(fmt::format("the system has no {} bytes for a buffer of machine {}: {}", size, machine,
                                   std::strerror(errno)));
      }
      buffers->buffers_[i].push_back({static_cast<std::byte*>(at), size});
    }
  }
  return buffers;
}

Buffers::~Buffers() {
  for (const auto& replicas : buffers_) {
    for (const Block& block : replicas) ::munmap(block.begin, block.size);
  }
}

std::span<std::byte> Buffers::bytes(const Extent& extent) const {
  if (extent.range.size == Bytes(0)) return {};
  const std::vector<Block>& replicas = buffers_[extent.buffer.index()];
  const auto replica = static_cast<std::size_t>(extent.replica);
  const auto offset = static_cast<std::size_t>(extent.range.offset.count());
  const auto size = static_cast<std::size_t>(extent.range.size.count());
  WEIR_CHECK(replica < replicas.size() && offset + size <= replicas[replica].size, extent.buffer, replica,
             offset, size);
  return {replicas[replica].begin + offset, size};
}

std::vector<std::span<std::byte>> Buffers::bytes(const Slice& slice, Dtype dtype) const {
  std::vector<std::span<std::byte>> all;
  for (const Extent& extent : Extents(*plan_, slice, dtype)) {
    if (extent.range.size > Bytes(0)) all.push_back(bytes(extent));
  }
  return all;
}

}  // namespace weir::real
