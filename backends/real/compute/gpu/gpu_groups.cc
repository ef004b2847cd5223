#include "backends/real/compute/gpu/gpu_groups.h"

#include <algorithm>

#include "backends/real/memory/cuda.h"

namespace weir::real {
namespace {

// What one member of a group calls.
struct Member {
  const Nccl& nccl;
  ncclComm_t comm;
  cudaStream_t stream;
  ncclDataType_t type;

  // In place. The result is on `root`, or comes from it.
  ncclResult_t rooted(bool out, std::span<std::byte> memory, std::size_t elements, int root) const {
    return out ? nccl.reduce(memory.data(), memory.data(), elements, type, ncclSum, root, comm, stream)
               : nccl.broadcast(memory.data(), memory.data(), elements, type, root, comm, stream);
  }
  // In place. All shares have the same size.
  ncclResult_t shared(bool out, std::span<std::byte> memory, std::span<std::byte> own,
                      std::size_t each) const {
    return out ? nccl.reduce_scatter(memory.data(), own.data(), each, type, ncclSum, comm, stream)
               : nccl.all_gather(own.data(), memory.data(), each, type, comm, stream);
  }
};

}  // namespace

GpuGroups::~GpuGroups() { end(false); }

void GpuGroups::end(bool by_force) {
  for (auto& [id, group] : groups_) {
    for (const Members* members : {&group.out, &group.in}) {
      for (ncclComm_t member : *members) {
        if (member == nullptr) continue;
        (void)(by_force ? nccl_->comm_abort(member) : nccl_->comm_destroy(member));
      }
    }
  }
  groups_.clear();
}

Result<void> GpuGroups::meet(GroupId group) {
  const std::span<const int> members = plan_->group(group);
  if (members.size() < 2 || has(group)) return {};
  const auto library = Nccl::load();
  if (!library) return tl::unexpected(library.error());
  nccl_ = *library;
  std::vector<int> devices;
  for (const int gpu : members) devices.push_back(gpus_->device(gpu));
  Group& met = groups_[group];
  for (Members* all : {&met.out, &met.in}) {
    all->resize(devices.size());
    auto done =
        nccl_->tried(nccl_->comm_init_all(all->data(), static_cast<int>(devices.size()), devices.data()),
                     "a group of GPUs");
    if (!done) return done;
  }
  return {};
}

Result<void> GpuGroups::start(const Op& op, const Buffers& buffers,
                              std::span<const cudaStream_t> streams) const {
  const GroupId id = op.into.on.group();
  const std::span<const int> gpus = plan_->group(id);
  const auto count = static_cast<int>(gpus.size());
  const auto element = static_cast<std::size_t>(size(op.dtype).count());
  const bool out = traits(op.kind).adds_up;
  const Members& comms = out ? groups_.at(id).out : groups_.at(id).in;
  const Range whole = {op.into.offset, op.into.size};

  const auto member_starts = [&](std::size_t i) {
    const auto on = [&](Range range) { return buffers.bytes(Extent{op.into.buffer, gpus[i], range}); };
    const Member member{*nccl_, comms[i], streams[i], nccl_type(op.dtype)};
    const auto memory = on(whole);
    const std::size_t elements = memory.size() / element;
    if (traits(op.kind).rooted) {
      const auto root = std::find(gpus.begin(), gpus.end(), op.root) - gpus.begin();
      return member.rooted(out, memory, elements, static_cast<int>(root));
    }
    const auto share_of = [&](int holder) { return on(share(whole, op.dtype, holder, count)); };
    if (elements % gpus.size() == 0)
      return member.shared(out, memory, share_of(static_cast<int>(i)), elements / gpus.size());
    // Shares of different sizes go one by one.
    ncclResult_t result = ncclSuccess;
    for (int holder = 0; holder < count && result == ncclSuccess; ++holder) {
      const auto part = share_of(holder);
      if (!part.empty()) result = member.rooted(out, part, part.size() / element, holder);
    }
    return result;
  };

  auto done = nccl_->tried(nccl_->group_start(), "a collective");
  for (std::size_t i = 0; i < gpus.size() && done; ++i) {
    done = tried(cudaSetDevice(gpus_->device(gpus[i])), "a GPU");
    if (done) done = nccl_->tried(member_starts(i), "a collective");
  }
  const auto ended = nccl_->tried(nccl_->group_end(), "a collective");
  return done ? ended : done;
}

}  // namespace weir::real
