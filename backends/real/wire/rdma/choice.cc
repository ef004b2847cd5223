#include "backends/real/wire/rdma/choice.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <tuple>

#include "backends/real/wire/rdma/verbs.h"

namespace weir::real::rdma {
namespace {

// What librdmacm knows about an address: the device and the port that have it.
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
      return failure(fmt::format("unknown host '{}': {}", host, ::gai_strerror(failed)));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    if (verbs_.create_id(nullptr, &id_, nullptr, RDMA_PS_TCP) != 0) {
      id_ = nullptr;
      return failed("RDMA's connection manager is not available (/dev/infiniband/rdma_cm)", errno);
    }
    if (verbs_.bind_addr(id_, all->ai_addr) != 0 || id_->verbs == nullptr)
      return failure(fmt::format("no RDMA device has the address {}", host));
    return id_;
  }

 private:
  const Verbs& verbs_;
  rdma_cm_id* id_ = nullptr;
};

Result<Choice> with_address(const std::string& host) {
  const auto verbs = Verbs::load();
  if (!verbs) return tl::unexpected(verbs.error());
  Binding binding(**verbs);
  const auto bound = binding.find(host);
  if (!bound) return tl::unexpected(bound.error());
  const rdma_cm_id& id = **bound;
  const std::string name = fmt::format("{} port {}", id.verbs->device->name, id.port_num);
  ibv_device_attr device = {};
  ibv_port_attr port = {};
  int failed_with = (*verbs)->query_device(id.verbs, &device);
  if (failed_with == 0) failed_with = (*verbs)->query_port(id.verbs, id.port_num, &port);
  if (failed_with != 0) return failed(name + " does not report its attributes", failed_with);
  const bool ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  // The list may also have this address for RoCE v1, which routers do not forward.
  for (const ibv_gid_entry& gid : all_gids(**verbs, id.verbs, device)) {
    if (gid.port_num == id.port_num && gid.gid_type == (ethernet ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB) &&
        std::memcmp(gid.gid.raw, id.route.addr.addr.ibaddr.sgid.raw, sizeof gid.gid.raw) == 0)
      return Choice{id.verbs->device->name, id.port_num, static_cast<int>(gid.gid_index)};
  }
  return failure(name + " has no RoCE v2 or InfiniBand GID for the address");
}

Result<Choice> choice_of(const Port& port) {
  if (!port.problem.empty()) return failure(port.name + " " + port.problem);
  if (!port.up) return failure(port.name + " is down");
  const Gid* const gid = usable_gid(port);
  if (gid == nullptr) return failure(port.name + " has no GID that machines can use");
  return Choice{port.device, static_cast<std::uint8_t>(port.number), gid->index};
}

Result<Choice> named(const RdmaPortSpec& spec, const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) {
    if (port.device == spec.device && (port.number == spec.port || !port.problem.empty()))
      return choice_of(port);
    names.push_back(port.name);
  }
  std::sort(names.begin(), names.end());
  return failure(fmt::format("the topology names {} port {}, but this host has {}", spec.device, spec.port,
                             names.empty() ? "no RDMA device" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

Result<Choice> choose(const std::string& host, std::span<const NicPlace> places, int nic) {
  auto by_address = with_address(host);
  if (places.empty()) return by_address;
  const auto& wish = places[static_cast<std::size_t>(nic)].port;
  const auto is_wish = [&] { return by_address->device == wish->device && by_address->port == wish->port; };
  if (by_address && (!wish || is_wish())) return by_address;
  const Survey all = survey();
  if (!all.ports) return tl::unexpected(all.ports.error());
  if (wish) return named(*wish, *all.ports);
  const Port* const near = nearest(*all.ports, places, nic);
  return near == nullptr ? by_address : choice_of(*near);
}

const Port* nearest(const std::vector<Port>& ports, std::span<const NicPlace> places, int nic) {
  struct Candidate {
    const Port* port;
    std::size_t nics = 0;  // how many NICs use it
  };
  std::vector<Candidate> all;
  for (const Port& port : ports) {
    if (!choice_of(port)) continue;
    const auto wants = [&](const NicPlace& place) {
      return place.port && place.port->device == port.device && place.port->port == port.number;
    };
    all.push_back({&port, static_cast<std::size_t>(std::count_if(places.begin(), places.end(), wants))});
  }
  if (all.empty()) return nullptr;
  Candidate* taken = nullptr;
  for (int i = 0; i <= nic; ++i) {
    const NicPlace& place = places[static_cast<std::size_t>(i)];
    if (place.port && i < nic) continue;
    // Shorter names first: mlx5_2 before mlx5_10, on all hosts.
    const auto rank = [&](const Candidate& one) {
      const Port& port = *one.port;
      const int distance = !port.numa ? 1 : *port.numa == place.numa ? 0 : 2;
      return std::tuple(one.nics, distance, port.device.size(), port.device, port.number);
    };
    taken = &*std::min_element(all.begin(), all.end(),
                               [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
    ++taken->nics;
  }
  return taken->port;
}

}  // namespace weir::real::rdma
