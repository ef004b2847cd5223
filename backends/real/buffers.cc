#include "backends/real/buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/threads.h"
#include "backends/real/transport.h"

namespace weir::real {

std::vector<Replica> landings(const Plan& plan, MachineId into, MachineId from) {
  std::set<Replica> found;
  for (const Op& op : plan.ops(into)) {
    if (op.kind != OpKind::kReceive || op.peer != from) continue;
    for (const Extent& extent : Extents(plan, op.into, op.dtype)) {
      if (extent.range.size > Bytes(0)) found.insert({extent.buffer, extent.replica});
    }
  }
  return {found.begin(), found.end()};
}

Result<std::unique_ptr<Buffers>> Buffers::make(const Plan& plan, MachineId machine,
                                               const std::set<Replica>& shared) {
  const std::vector<int> nodes = numa_nodes();
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.machine != machine || buffer.size == Bytes(0)) continue;
    PageWishes wishes;
    const bool host = buffer.place == Memory::Kind::kHost;
    if (host && std::find(nodes.begin(), nodes.end(), buffer.numa) != nodes.end()) wishes.numa = buffer.numa;
    for (int number = 0; number < buffer.replicas; ++number) {
      auto pages = shared.contains({BufferId(i), number})
                       ? Pages::make_shared(buffer.size, fmt::format("weir-{}-{}", i, number), wishes)
                       : Pages::make(buffer.size, wishes);
      if (!pages) return tl::unexpected(pages.error());
      buffers->pages_[i].push_back(std::move(*pages));
    }
  }
  return buffers;
}

Result<std::unique_ptr<Buffers>> Buffers::make(const Plan& plan, MachineId machine) {
  return make(plan, machine, {});
}

Result<std::unique_ptr<Buffers>> Buffers::make_shared(const Plan& plan, MachineId machine) {
  std::set<Replica> shared;
  for (const MachineId peer : peers_of(plan, machine)) {
    const auto landing = landings(plan, machine, peer);
    shared.insert(landing.begin(), landing.end());
  }
  return make(plan, machine, shared);
}

Result<std::unique_ptr<Buffers>> Buffers::map_shared(const Plan& plan,
                                                     const std::vector<SharedReplica>& replicas) {
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  for (const SharedReplica& shared : replicas) {
    const BufferId id = shared.replica.buffer;
    auto pages = Pages::map_shared(shared.descriptor.number(), plan.buffer(id).size);
    if (!pages) return failure(fmt::format("buffer {}: {}", id, pages.error().text));
    auto& all = buffers->pages_[id.index()];
    all.resize(std::max(all.size(), static_cast<std::size_t>(shared.replica.number) + 1));
    all[static_cast<std::size_t>(shared.replica.number)] = std::move(*pages);
  }
  return buffers;
}

std::optional<int> Buffers::descriptor(const Replica& replica) const {
  const auto& replicas = pages_[replica.buffer.index()];
  const auto number = static_cast<std::size_t>(replica.number);
  WEIR_CHECK(number < replicas.size() && replicas[number], replica.buffer, number);
  return replicas[number]->descriptor();
}

std::span<std::byte> Buffers::bytes(const Extent& extent) const {
  if (extent.range.size == Bytes(0)) return {};
  const auto& replicas = pages_[extent.buffer.index()];
  const auto replica = static_cast<std::size_t>(extent.replica);
  WEIR_CHECK(
      replica < replicas.size() && replicas[replica] && extent.range.end() <= replicas[replica]->size(),
      extent.buffer, replica);
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
