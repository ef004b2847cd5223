#include "backends/real/wire/rdma/device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace weir::real::rdma {

Result<std::shared_ptr<const Device>> Device::open(const Choice& choice) {
  const auto verbs = Verbs::load();
  if (!verbs) return tl::unexpected(verbs.error());
  std::shared_ptr<Device> device(new Device(**verbs));
  if (auto made = device->make(choice); !made) return tl::unexpected(made.error());
  return std::shared_ptr<const Device>(std::move(device));
}

Result<void> Device::make(const Choice& choice) {
  int count = 0;
  ibv_device** const all = verbs_->get_device_list(&count);
  for (int i = 0; i < count && context_ == nullptr; ++i) {
    if (choice.device == all[i]->name) context_ = verbs_->open_device(all[i]);
  }
  const int error_number = errno;
  if (all != nullptr) verbs_->free_device_list(all);
  if (context_ == nullptr) return failed(choice.device + " cannot be opened", error_number);
  entry_ = entry();
  port_ = choice.port;
  domain_ = verbs_->alloc_pd(context_);
  if (domain_ == nullptr) return failed(name() + " provides no protection domain", errno);
  int failed_with = verbs_->query_device(context_, &attributes_);
  if (failed_with == 0) failed_with = verbs_->query_port(context_, port_, &port_attributes_);
  if (failed_with != 0) return failed(name() + " does not report its attributes", failed_with);
  if (port_attributes_.state != IBV_PORT_ACTIVE) return failure(name() + " is down");
  const std::vector<ibv_gid_entry> gids = all_gids(*verbs_, context_, attributes_);
  const auto fits = [&](const ibv_gid_entry& entry) {
    return entry.port_num == port_ && static_cast<int>(entry.gid_index) == choice.gid;
  };
  const auto found = std::find_if(gids.begin(), gids.end(), fits);
  if (found == gids.end()) return failure(fmt::format("{} no longer has GID {}", name(), choice.gid));
  gid_ = *found;
  const int flags = ::fcntl(context_->async_fd, F_GETFL);
  if (::fcntl(context_->async_fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return failed(name() + " cannot be watched", errno);
  return {};
}

Device::~Device() {
  if (domain_ != nullptr) verbs_->dealloc_pd(domain_);
  if (context_ != nullptr) verbs_->close_device(context_);
}

std::string Device::name() const { return fmt::format("{} port {}", context_->device->name, port_); }

// Some drivers do not report a removal. They delay it until nobody uses the device, but its entry in the
// system disappears at once. A device that comes back has another entry.
std::optional<std::uint64_t> Device::entry() const {
  struct stat status = {};
  if (::stat(context_->device->dev_path, &status) != 0) return std::nullopt;
  return status.st_ino;
}

Result<void> Device::well() const {
  if (entry_ && entry() != entry_) return failure(name() + " of this host was removed");
  ibv_async_event event = {};
  while (verbs_->get_async_event(context_, &event) == 0) {
    // A port that is down may come back. If retries run out before, the queues report it themselves.
    if (event.event_type == IBV_EVENT_DEVICE_FATAL || event.event_type == IBV_EVENT_CQ_ERR) lost_ = true;
    verbs_->ack_async_event(&event);
  }
  if (errno != EAGAIN && errno != EINTR) lost_ = true;
  if (lost_) return failure(name() + " of this host no longer works");
  return {};
}

}  // namespace weir::real::rdma
