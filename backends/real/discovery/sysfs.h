// What the kernel tells of devices in /sys, as far as hwloc does not: the fastest links of PCIe devices, and
// NICs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/discovery/host_parts.h"

namespace weir::real {

/// Paths are below the root. Nothing fails: what cannot be read is not told.
class Sysfs {
 public:
  explicit Sysfs(std::string root) : root_(std::move(root)) {}

  /// The first line of the file; empty if there is none.
  std::string line(const std::string& path) const;
  std::optional<std::int64_t> number(const std::string& path) const;
  /// What is in the folder, in order.
  std::vector<std::string> names(const std::string& folder) const;
  bool exists(const std::string& path) const;
  /// Where the path leads once all links are followed; empty if nowhere.
  std::string target(const std::string& path) const;

  /// The fastest link that the PCI device can have.
  PcieLink fastest(const std::string& device) const;
  /// Fills in the place's links, of a device below that port (empty if none is told).
  void tell_links(DevicePlace& place, const std::string& port) const;
  /// Fills in whether the switch is half of one of Broadcom's.
  void tell_broadcom(HostParts::Switch& one) const;
  /// Fills in what is told of the network interface of the NIC's name.
  void tell_interface(HostParts::Nic& nic) const;
  /// The InfiniBand ports of an RDMA device; none of one that speaks Ethernet, whose interface tells more.
  std::vector<HostParts::Nic> infiniband_ports(const std::string& device) const;

 private:
  std::string root_;
};

}  // namespace weir::real
