// What RDMA there is on this host, for checks: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir::real::rdma {

struct Gid {
  int index = 0;
  std::string type;     // "RoCE v1", "RoCE v2", "InfiniBand"
  std::string address;  // as IP addresses are written
};

struct Port {
  std::string name;     // "mlx5_0 port 1", or of a device that cannot be opened "mlx5_0"
  std::string problem;  // why it cannot; empty if it can, and all counts, not the device alone
  bool up = false;
  bool ethernet = false;
  int mtu = 0;       // bytes of a packet
  int mtu_most = 0;  // that the device can
  std::vector<Gid> gids;
  std::string device;
  int number = 0;           // of the port
  std::optional<int> numa;  // node that the device is at, if it tells
};

/// The address that machines would use: one that routers know, of IPv4 if there are several. Null if the port
/// has none.
const Gid* usable_gid(const Port& port);

struct Survey {
  Result<std::vector<Port>> ports;  // or why there can be none
  Result<void> manager;             // whether devices can be found by their addresses
};

/// Opens every device. A driver that is stuck may hold up the call for long.
Survey survey();

}  // namespace weir::real::rdma
