#include "backends/real/wire/rdma/survey.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "backends/real/wire/rdma/verbs.h"

namespace weir::real::rdma {
namespace {

int bytes_of(ibv_mtu mtu) { return 128 << mtu; }

std::string type_of(std::uint32_t type) {
  return type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : type == IBV_GID_TYPE_ROCE_V1 ? "RoCE v1" : "InfiniBand";
}

std::string text_of(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  in6_addr six = {};
  static_assert(sizeof six == sizeof gid);
  std::copy(std::begin(gid.raw), std::end(gid.raw), std::begin(six.s6_addr));
  if (IN6_IS_ADDR_V4MAPPED(&six)) return ::inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
  return ::inet_ntop(AF_INET6, &six, text.data(), text.size());
}

std::optional<int> numa_of(const ibv_device& device) {
  int number = -1;
  std::ifstream(std::string(device.ibdev_path) + "/device/numa_node") >> number;
  return number < 0 ? std::nullopt : std::optional(number);
}

void add_ports(const Verbs& verbs, ibv_context* context, std::vector<Port>& ports) {
  ibv_device_attr device = {};
  if (verbs.query_device(context, &device) != 0) return;
  const std::vector<ibv_gid_entry> gids = all_gids(verbs, context, device);
  for (std::uint8_t number = 1; number <= device.phys_port_cnt; ++number) {
    ibv_port_attr attributes = {};
    if (verbs.query_port(context, number, &attributes) != 0) continue;
    Port& port = ports.emplace_back();
    port.name = fmt::format("{} port {}", context->device->name, number);
    port.device = context->device->name;
    port.number = number;
    port.numa = numa_of(*context->device);
    port.up = attributes.state == IBV_PORT_ACTIVE;
    port.ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    port.mtu = bytes_of(attributes.active_mtu);
    port.mtu_most = bytes_of(attributes.max_mtu);
    for (const ibv_gid_entry& gid : gids) {
      if (gid.port_num == number)
        port.gids.push_back({static_cast<int>(gid.gid_index), type_of(gid.gid_type), text_of(gid.gid)});
    }
  }
}

Result<std::vector<Port>> ports_of(const Verbs& verbs) {
  int count = 0;
  ibv_device** const devices = verbs.get_device_list(&count);
  if (devices == nullptr && errno == ENOSYS) return {};  // the kernel has no RDMA
  if (devices == nullptr) return failed("cannot list RDMA devices", errno);
  std::vector<Port> ports;
  for (int i = 0; i < count; ++i) {
    ibv_context* const context = verbs.open_device(devices[i]);
    if (context == nullptr) {
      Port& port = ports.emplace_back();
      port.name = port.device = devices[i]->name;
      port.problem = failed("cannot be opened", errno).value().text;
      continue;
    }
    add_ports(verbs, context, ports);
    verbs.close_device(context);
  }
  verbs.free_device_list(devices);
  // The list omits devices without a device file.
  std::error_code none;
  for (const auto& known : std::filesystem::directory_iterator("/sys/class/infiniband", none)) {
    if (count > 0) break;
    Port& port = ports.emplace_back();
    port.name = port.device = known.path().filename().string();
    port.problem = "has no file in /dev/infiniband";
  }
  return ports;
}

Result<void> try_manager(const Verbs& verbs) {
  rdma_cm_id* id = nullptr;
  if (verbs.create_id(nullptr, &id, nullptr, RDMA_PS_TCP) != 0)
    return failed("/dev/infiniband/rdma_cm", errno);
  verbs.destroy_id(id);
  return {};
}

}  // namespace

const Gid* usable_gid(const Port& port) {
  const Gid* first = nullptr;
  for (const Gid& gid : port.gids) {
    if (gid.type != (port.ethernet ? "RoCE v2" : "InfiniBand")) continue;
    if (port.ethernet && gid.address.starts_with("fe80:")) continue;
    if (gid.address.find('.') != std::string::npos) return &gid;
    if (first == nullptr) first = &gid;
  }
  return first;
}

Survey survey() {
  const auto verbs = Verbs::load();
  if (!verbs) return {tl::unexpected(verbs.error()), tl::unexpected(verbs.error())};
  return {ports_of(**verbs), try_manager(**verbs)};
}

}  // namespace weir::real::rdma
