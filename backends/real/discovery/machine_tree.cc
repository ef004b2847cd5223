#include "backends/real/discovery/machine_tree.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backends/real/discovery/sysfs.h"

namespace weir::real {
namespace {

constexpr unsigned kDisplay = 0x03;  // classes of PCI devices
constexpr unsigned kNvidia = 0x10de;

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Tree = std::unique_ptr<hwloc_topology, Destroy>;

std::string text(const char* words) { return words == nullptr ? std::string() : std::string(words); }

std::string info(hwloc_obj_t object, const char* name) {
  return object == nullptr ? std::string() : text(hwloc_obj_get_info_by_name(object, name));
}

template <class Device>
std::string bus_id(const Device& device) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", device.domain, device.bus, device.dev, device.func);
}

/// NCCL's name for it.
std::string arch_of(const std::string& machine) {
  if (machine == "aarch64") return "arm64";
  if (machine.starts_with("ppc64")) return "ppc64";
  return machine;
}

class TreeReader {
 public:
  TreeReader(hwloc_topology_t tree, std::string sysfs) : tree_(tree), sysfs_(std::move(sysfs)) {}

  HostParts read() {
    const hwloc_obj_t root = hwloc_get_root_obj(tree_);
    parts_.host = info(root, "HostName");
    parts_.arch = arch_of(info(root, "Architecture"));
    const hwloc_obj_t package = hwloc_get_obj_by_type(tree_, HWLOC_OBJ_PACKAGE, 0);
    parts_.vendor = info(package, "CPUVendor");
    parts_.family = std::atoi(info(package, "CPUFamilyNumber").c_str());
    parts_.model = std::atoi(info(package, "CPUModelNumber").c_str());
    add_numas();
    walk(root);
    return std::move(parts_);
  }

 private:
  /// The position of the walk in the PCI tree.
  struct Branch {
    std::string above;  // the nearest switch
    std::string port;   // the bridge right above
    int bridges = 0;    // above, without the CPU's own
  };

  void add_numas() {
    for (int i = 0; i < hwloc_get_nbobjs_by_type(tree_, HWLOC_OBJ_NUMANODE); ++i) {
      const hwloc_obj_t node = hwloc_get_obj_by_type(tree_, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
      HostParts::Numa numa;
      numa.number = static_cast<int>(node->os_index);
      numa.memory = Bytes(static_cast<std::int64_t>(node->attr->numanode.local_memory));
      numa.cores = count_inside(node, HWLOC_OBJ_CORE);
      if (numa.cores == 0) numa.cores = count_inside(node, HWLOC_OBJ_PU);
      const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(tree_, HWLOC_OBJ_PACKAGE, node);
      if (package != nullptr) numa.package = static_cast<int>(package->logical_index);
      parts_.numas.push_back(numa);
    }
    std::sort(parts_.numas.begin(), parts_.numas.end(),
              [](const HostParts::Numa& a, const HostParts::Numa& b) { return a.number < b.number; });
  }

  int count_inside(hwloc_obj_t node, hwloc_obj_type_t type) const {
    return std::max(0, hwloc_get_nbobjs_inside_cpuset_by_type(tree_, node->cpuset, type));
  }

  /// -1 if it is equally near to all nodes.
  int numa_of(hwloc_obj_t object) const {
    const hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(tree_, object);
    if (host == nullptr || host->nodeset == nullptr) return -1;
    const int near = hwloc_bitmap_weight(host->nodeset);
    const int all = static_cast<int>(parts_.numas.size());
    return near == all && all > 1 ? -1 : hwloc_bitmap_first(host->nodeset);
  }

  void walk(hwloc_obj_t object) {
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) walk(child);
    for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling)
      visit(child, {});
  }

  void visit(hwloc_obj_t object, const Branch& branch) {
    if (object->type == HWLOC_OBJ_BRIDGE) {
      visit_bridge(object, branch);
    } else if (object->type == HWLOC_OBJ_PCI_DEVICE) {
      visit_device(object, branch);
    } else if (object->type == HWLOC_OBJ_OS_DEVICE && object->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) {
      DevicePlace place;
      place.numa = numa_of(object);
      add_interface(object, place, "");
    }
  }

  /// Every second bridge below the CPU faces it: after a port of the CPU come the upper port of a switch, its
  /// lower ports, the upper port of the next switch, and so on.
  void visit_bridge(hwloc_obj_t object, Branch branch) {
    if (object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      const std::string id = bus_id(object->attr->bridge.upstream.pci);
      if (branch.bridges % 2 == 1) {
        HostParts::Switch one;
        one.place.id = id;
        one.place.above = branch.above;
        one.place.numa = numa_of(object);
        sysfs_.add_links(one.place, branch.port);
        sysfs_.add_broadcom(one);
        parts_.switches.push_back(one);
        branch.above = id;
      }
      branch.port = id;
      ++branch.bridges;
    }
    for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling)
      visit(child, branch);
  }

  void visit_device(hwloc_obj_t object, const Branch& branch) {
    const auto& device = object->attr->pcidev;
    DevicePlace place;
    place.id = bus_id(device);
    place.above = branch.above;
    place.numa = numa_of(object);
    sysfs_.add_links(place, branch.port);
    if (device.vendor_id == kNvidia && device.class_id >> 8 == kDisplay) parts_.gpu_devices.push_back(place);
    const std::string full_name = info(object, "PCIDevice");
    // InfiniBand first: its ports work and report their rate, even without IP.
    std::size_t ports = 0;
    for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling) {
      if (child->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
      for (HostParts::Nic& nic : sysfs_.infiniband_ports(text(child->name))) {
        nic.place = place;
        nic.full_name = full_name;
        parts_.nics.push_back(nic);
        ++ports;
      }
    }
    if (ports > 0) return;
    for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling) {
      if (child->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) add_interface(child, place, full_name);
    }
  }

  void add_interface(hwloc_obj_t object, const DevicePlace& place, const std::string& full_name) {
    HostParts::Nic nic;
    nic.name = text(object->name);
    nic.full_name = full_name;
    nic.place = place;
    sysfs_.add_interface(nic);
    parts_.nics.push_back(nic);
  }

  hwloc_topology_t tree_;
  Sysfs sysfs_;
  HostParts parts_;
};

std::string name_of_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace

Result<HostParts> read_machine(const TreeSource& source) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failure("hwloc cannot start: not enough memory");
  const Tree tree(raw);
  if (!source.xml.empty() && hwloc_topology_set_xml(raw, source.xml.c_str()) != 0) {
    return failure(fmt::format("{}: expected hwloc's XML, as lstopo --of xml writes it", source.xml));
  }
  // Leaves out components. All but the last would start GPU drivers, which takes seconds; NVML is asked
  // separately. The last is a plugin that leaks and that not every host has; without it hwloc reads the same
  // tree from /sys.
  for (const char* component : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl", "pci"})
    (void)hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  (void)hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(raw) != 0) {
    return failure(fmt::format("hwloc cannot read {}: {}", source.xml.empty() ? "this host" : source.xml,
                               std::strerror(errno)));
  }
  HostParts parts = TreeReader(raw, source.sysfs).read();
  if (parts.host.empty()) parts.host = name_of_host();
  return parts;
}

}  // namespace weir::real
