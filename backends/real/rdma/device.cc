#include "backends/real/rdma/device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace weir::real::rdma {
namespace {

// What librdmacm knows of an address: the device and the port that have it.
class Binding {
 public:
  explicit Binding(const Verbs& verbs) : verbs_(verbs) {}
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  ~Binding() {
    if (id_ != nullptr) verbs_.destroy_id(id_);
  }

  Result<const rdma_cm_id*> find(const std::string& host) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); failed != 0)
      return failure(fmt::format("'{}' is no host: {}", host, ::gai_strerror(failed)));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    if (verbs_.create_id(nullptr, &id_, nullptr, RDMA_PS_TCP) != 0) {
      id_ = nullptr;
      return failed("the system has no RDMA connections (/dev/infiniband/rdma_cm)", errno);
    }
    if (verbs_.bind_addr(id_, all->ai_addr) != 0 || id_->verbs == nullptr)
      return failure(fmt::format("no RDMA device has the address {}", host));
    return id_;
  }

 private:
  const Verbs& verbs_;
  rdma_cm_id* id_ = nullptr;
};

GidBytes gid_of(const rdma_cm_id& id) {
  GidBytes gid{};
  std::memcpy(gid.data(), id.route.addr.addr.ibaddr.sgid.raw, gid.size());
  return gid;
}

}  // namespace

Result<std::shared_ptr<const Device>> Device::at(const std::string& host) {
  const auto verbs = Verbs::load();
  if (!verbs) return tl::unexpected(verbs.error());
  Binding binding(**verbs);
  const auto id = binding.find(host);
  if (!id) return tl::unexpected(id.error());
  std::shared_ptr<Device> device(new Device(**verbs));
  const auto opened = device->open(*(*id)->verbs, (*id)->port_num, gid_of(**id));
  if (!opened) return tl::unexpected(opened.error());
  return std::shared_ptr<const Device>(std::move(device));
}

Result<void> Device::open(const ibv_context& like, std::uint8_t port, const GidBytes& gid) {
  int count = 0;
  ibv_device** const all = verbs_->get_device_list(&count);
  for (int i = 0; i < count && context_ == nullptr; ++i) {
    if (std::strcmp(all[i]->name, like.device->name) == 0) context_ = verbs_->open_device(all[i]);
  }
  const int error_number = errno;
  if (all != nullptr) verbs_->free_device_list(all);
  if (context_ == nullptr) return failed(fmt::format("{} cannot be opened", like.device->name), error_number);
  port_ = port;
  domain_ = verbs_->alloc_pd(context_);
  if (domain_ == nullptr) return failed(name() + " gives no protection domain", errno);
  int failed_with = verbs_->query_device(context_, &attributes_);
  if (failed_with == 0) failed_with = verbs_->query_port(context_, port_, &port_attributes_);
  if (failed_with != 0) return failed(name() + " says nothing of itself", failed_with);
  if (port_attributes_.state != IBV_PORT_ACTIVE) return failure(name() + " is down");
  const std::vector<ibv_gid_entry> gids = all_gids(*verbs_, context_, attributes_);
  // The same address may stand there for RoCE v1 too, which no router lets through.
  const auto fits = [&](const ibv_gid_entry& entry) {
    return entry.port_num == port_ && std::memcmp(entry.gid.raw, gid.data(), gid.size()) == 0 &&
           entry.gid_type == (is_ethernet() ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB);
  };
  const auto found = std::find_if(gids.begin(), gids.end(), fits);
  if (found == gids.end()) return failure(name() + " has no GID of RoCE v2 or InfiniBand for the address");
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

Result<void> Device::well() const {
  ibv_async_event event = {};
  while (verbs_->get_async_event(context_, &event) == 0) {
    // A port that is down may come back; queues whose retries end before say so themselves.
    if (event.event_type == IBV_EVENT_DEVICE_FATAL || event.event_type == IBV_EVENT_CQ_ERR) lost_ = true;
    verbs_->ack_async_event(&event);
  }
  if (errno != EAGAIN && errno != EINTR) lost_ = true;
  if (lost_) return failure(name() + " works no more");
  return {};
}

}  // namespace weir::real::rdma
