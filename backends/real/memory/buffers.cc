#include "backends/real/memory/buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/process/threads.h"

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
                                               const std::set<Replica>& shared, Gpus* gpus,
                                               GradientHome gradients) {
  const std::vector<int> nodes = numa_nodes();
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  buffers->gpus_ = gpus;
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.machine != machine || buffer.size == Bytes(0)) continue;
    if (buffer.role == Buffer::Role::kGradient && gradients == GradientHome::kApplication) continue;
    PageWishes wishes;
    const bool host = buffer.place == Memory::Kind::kHost;
    if (host && std::find(nodes.begin(), nodes.end(), buffer.numa) != nodes.end()) wishes.numa = buffer.numa;
    for (int number = 0; number < buffer.replicas; ++number) {
      if (!host && gpus != nullptr) {
        const auto memory = gpus->allocate(number, buffer.size);
        if (!memory) return tl::unexpected(memory.error());
        buffers->homes_[i].push_back({nullptr, *memory});
        continue;
      }
      auto pages = shared.contains({BufferId(i), number})
                       ? Pages::make_shared(buffer.size, fmt::format("weir-{}-{}", i, number), wishes)
                       : Pages::make(buffer.size, wishes);
      if (!pages) return tl::unexpected(pages.error());
      std::byte* const data = (*pages)->data();
      buffers->homes_[i].push_back({std::move(*pages), data});
    }
  }
  return buffers;
}

Result<std::unique_ptr<Buffers>> Buffers::make(const Plan& plan, MachineId machine, Gpus* gpus,
                                               GradientHome gradients) {
  return make(plan, machine, {}, gpus, gradients);
}

Result<std::unique_ptr<Buffers>> Buffers::make_shared(const Plan& plan, MachineId machine, Gpus* gpus,
                                                      GradientHome gradients) {
  std::set<Replica> shared;
  for (const MachineId peer : plan.peers(machine)) {
    const auto landing = landings(plan, machine, peer);
    shared.insert(landing.begin(), landing.end());
  }
  return make(plan, machine, shared, gpus, gradients);
}

Result<std::unique_ptr<Buffers>> Buffers::map_shared(const Plan& plan,
                                                     const std::vector<SharedReplica>& replicas) {
  std::unique_ptr<Buffers> buffers(new Buffers(plan));
  for (const SharedReplica& shared : replicas) {
    const BufferId id = shared.replica.buffer;
    auto pages = Pages::map_shared(shared.descriptor.number(), plan.buffer(id).size);
    if (!pages) return failure(fmt::format("buffer {}: {}", id, pages.error().text));
    auto& all = buffers->homes_[id.index()];
    all.resize(std::max(all.size(), static_cast<std::size_t>(shared.replica.number) + 1));
    std::byte* const data = (*pages)->data();
    all[static_cast<std::size_t>(shared.replica.number)] = {std::move(*pages), data};
  }
  return buffers;
}

std::optional<int> Buffers::descriptor(const Replica& replica) const {
  const auto& replicas = homes_[replica.buffer.index()];
  const auto number = static_cast<std::size_t>(replica.number);
  WEIR_CHECK(number < replicas.size() && replicas[number].pages, replica.buffer, number);
  return replicas[number].pages->descriptor();
}

std::span<std::byte> Buffers::bytes(const Extent& extent) const {
  if (extent.range.size == Bytes(0)) return {};
  const auto& replicas = homes_[extent.buffer.index()];
  const auto replica = static_cast<std::size_t>(extent.replica);
  WEIR_CHECK(replica < replicas.size() && replicas[replica].data != nullptr &&
                 extent.range.end() <= plan_->buffer(extent.buffer).size,
             extent.buffer, replica);
  return {replicas[replica].data + extent.range.offset.count(),
          static_cast<std::size_t>(extent.range.size.count())};
}

Result<void> Buffers::load(const Extent& extent, std::span<std::byte> into) const {
  WEIR_CHECK(on_gpu(extent.buffer), extent.buffer);
  return gpus_->copy(extent.replica, into, bytes(extent));
}

Result<void> Buffers::store(std::span<const std::byte> from, const Extent& extent) const {
  WEIR_CHECK(on_gpu(extent.buffer), extent.buffer);
  return gpus_->copy(extent.replica, bytes(extent), from);
}

bool Buffers::on_gpu(BufferId buffer) const {
  return gpus_ != nullptr && plan_->buffer(buffer).place == Memory::Kind::kGpu;
}

Result<DmaBuf> Buffers::dma_buf(const Replica& replica) const {
  WEIR_CHECK(on_gpu(replica.buffer), replica.buffer);
  return Gpus::dma_buf(
      bytes({replica.buffer, replica.number, {Bytes(0), plan_->buffer(replica.buffer).size}}));
}

Result<void> Buffers::see_writes(const Slice& slice, Dtype dtype) const {
  if (!on_gpu(slice.buffer)) return {};
  for (const Extent& extent : Extents(*plan_, slice, dtype)) {
    if (auto seen = gpus_->see_writes(extent.replica); !seen) return seen;
  }
  return {};
}

std::vector<std::span<std::byte>> Buffers::bytes(const Slice& slice, Dtype dtype) const {
  std::vector<std::span<std::byte>> all;
  for (const Extent& extent : Extents(*plan_, slice, dtype)) {
    if (extent.range.size > Bytes(0)) all.push_back(bytes(extent));
  }
  return all;
}

}  // namespace weir::real
