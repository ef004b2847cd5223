#include "backends/real/wire/rdma/regions.h"

#include <fmt/format.h>

#include <cerrno>
#include <set>

#include "core/base/units_text.h"

namespace weir::real::rdma {
namespace {

std::size_t region_size() { return static_cast<std::size_t>(kRegion.count()); }

}  // namespace

std::size_t regions_of(Bytes size) {
  return static_cast<std::size_t>((size.count() + kRegion.count() - 1) / kRegion.count());
}

Result<std::shared_ptr<const Regions>> Regions::make(std::shared_ptr<const Device> device, const Plan& plan,
                                                     MachineId machine, const Buffers& buffers) {
  std::set<Replica> into;
  std::set<Replica> all;
  for (const MachineId peer : plan.peers(machine)) {
    const auto landing = landings(plan, machine, peer);
    into.insert(landing.begin(), landing.end());
  }
  all = into;
  for (const Op& op : plan.ops(machine)) {
    if (op.kind != OpKind::kSend) continue;
    for (const Extent& extent : Extents(plan, op.from, op.dtype)) {
      if (extent.range.size > Bytes(0)) all.insert({extent.buffer, extent.replica});
    }
  }
  std::shared_ptr<Regions> regions(new Regions(std::move(device)));
  for (const Replica& replica : all) {
    const Extent whole = {replica.buffer, replica.number, {Bytes(0), plan.buffer(replica.buffer).size}};
    const auto added = regions->add(replica, buffers, buffers.bytes(whole), into.contains(replica));
    if (!added) return tl::unexpected(added.error());
  }
  return std::shared_ptr<const Regions>(std::move(regions));
}

Result<ibv_mr*> Regions::enter(std::span<std::byte> part, int access) const {
  ibv_mr* const region = device_->verbs().reg_mr(device_->domain(), part.data(), part.size(), access);
  if (region != nullptr) return region;
  return failed(fmt::format("{} cannot register {} of memory (see `ulimit -l`)", device_->name(),
                            text(Bytes(static_cast<std::int64_t>(part.size())))),
                errno);
}

// Registers GPU memory as a DMA-BUF. If that fails, tries its address, which a kernel module may recognize.
Result<ibv_mr*> Regions::enter_gpu(const Result<DmaBuf>& gpu, std::span<std::byte> part, std::size_t at,
                                   int access) const {
  const Verbs& verbs = device_->verbs();
  std::string why = gpu ? "libibverbs is too old for DMA-BUF" : gpu.error().text;
  if (gpu && verbs.reg_dmabuf_mr != nullptr) {
    const auto address = reinterpret_cast<std::uintptr_t>(part.data());  // NOLINT: what peers write to
    ibv_mr* const region = verbs.reg_dmabuf_mr(device_->domain(), gpu->offset + at, part.size(), address,
                                               gpu->descriptor.number(), access);
    if (region != nullptr) return region;
    why = failed("it rejects the DMA-BUF", errno).value().text;
  }
  ibv_mr* const region = verbs.reg_mr(device_->domain(), part.data(), part.size(), access);
  if (region != nullptr) return region;
  return failed(
      fmt::format("{} cannot reach GPU memory: {}; nor through nvidia-peermem", device_->name(), why), errno);
}

Result<void> Regions::add(const Replica& replica, const Buffers& buffers, std::span<std::byte> bytes,
                          bool remote) {
  Home& home = homes_[replica];
  home.bytes = bytes;
  home.on_gpu = buffers.on_gpu(replica.buffer);
  by_address_[bytes.data()] = &home;
  const Result<DmaBuf> gpu = home.on_gpu ? buffers.dma_buf(replica) : Result<DmaBuf>();
  const int access = remote ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0;
  for (std::size_t at = 0; at < bytes.size(); at += region_size()) {
    const auto part = bytes.subspan(at, std::min(region_size(), bytes.size() - at));
    const auto region = home.on_gpu ? enter_gpu(gpu, part, at, access) : enter(part, access);
    if (!region) return tl::unexpected(region.error());
    ++device_->counts().registrations;
    home.regions.push_back(*region);
  }
  return {};
}

Regions::~Regions() {
  for (const auto& [replica, home] : homes_) {
    for (ibv_mr* region : home.regions) device_->verbs().dereg_mr(region);
  }
}

Regions::Piece Regions::first_of(std::span<const std::byte> bytes) const {
  const auto after = by_address_.upper_bound(bytes.data());
  WEIR_CHECK(after != by_address_.begin());
  const Home& home = *std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(bytes.data() - home.bytes.data());
  WEIR_CHECK(offset + bytes.size() <= home.bytes.size(), offset, bytes.size());
  const std::size_t number = offset / region_size();
  const std::size_t rest = (number + 1) * region_size() - offset;
  return {bytes.first(std::min(rest, bytes.size())), home.regions[number]->lkey, home.on_gpu};
}

Landing Regions::landing(const Replica& replica) const {
  const Home& home = homes_.at(replica);
  Landing landing;
  landing.address = reinterpret_cast<std::uintptr_t>(home.bytes.data());  // NOLINT: what peers write to
  for (const ibv_mr* region : home.regions) landing.keys.push_back(region->rkey);
  return landing;
}

}  // namespace weir::real::rdma
