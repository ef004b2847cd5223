// Reads what the kernel reports about devices in /sys and hwloc does not: the fastest links of PCIe devices,
// and NICs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/discovery/host_parts.h"

namespace weir::real {

/// Paths are below the root. Nothing fails: what cannot be read counts as unknown.
class Sysfs {
 public:
  explicit Sysfs(std::string root) : root_(std::move(root)) {}

  /// The first line of the file; empty if there is none.
  std::string line(const std::string& path) const;
  std::optional<std::int64_t> number(const std::string& path) const;
  /// The names in the folder, in order.
  std::vector<std::string> names(const std::string& folder) const;
  bool exists(const std::string& path) const;
  /// The path with all links followed; empty if it leads nowhere.
  std::string target(const std::string& path) const;

  /// The fastest link that the PCI device supports.
  PcieLink fastest(const std::string& device) const;
  /// Adds the place's links, for a device below that port (empty if it is not known).
  void add_links(DevicePlace& place, const std::string& port) const;
  /// Adds whether the switch is half of one of Broadcom's.
  void add_broadcom(HostParts::Switch& one) const;
  /// Adds what is known about the network interface with the NIC's name.
  void add_interface(HostParts::Nic& nic) const;
  /// The InfiniBand ports of an RDMA device. Ethernet ports are left out: their interface says more.
  std::vector<HostParts::Nic> infiniband_ports(const std::string& device) const;

 private:
  std::string root_;
};

}  // namespace weir::real
