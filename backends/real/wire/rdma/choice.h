// Which port of this host's RDMA devices a NIC of the plan is.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/real/wire/nic_place.h"
#include "backends/real/wire/rdma/survey.h"
#include "core/base/result.h"

namespace weir::real::rdma {

/// A port, and the address that it is to use there.
struct Choice {
  std::string device;
  std::uint8_t port = 1;
  int gid = 0;  // its index
  friend auto operator<=>(const Choice&, const Choice&) = default;
};

/// Of the NIC with number `nic`, at whose address, `host`, the machine listens: the port that the topology
/// names; else the one that has the address, of RoCE the NIC's own, of InfiniBand that of IP over it; else
/// the nearest one. Without places only the address counts. Fails, saying why, if there is none.
Result<Choice> choose(const std::string& host, std::span<const NicPlace> places, int nic);

/// Of the ports that are up and have an address for machines, those that the fewest NICs have already, as the
/// topology names them or as they come: of them one at the NIC's NUMA node, else one that tells no node, else
/// any. Null if there is none.
const Port* nearest(const std::vector<Port>& ports, std::span<const NicPlace> places, int nic);

}  // namespace weir::real::rdma
