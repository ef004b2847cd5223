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

/// The port of the NIC with number `nic`, at whose address, `host`, the machine listens. It is the port that
/// the topology names; else the one that has the address (RoCE has the NIC's own, InfiniBand that of IP over
/// it); else the nearest one. Without places only the address counts. Fails, with the reason, if there is
/// none.
Result<Choice> choose(const std::string& host, std::span<const NicPlace> places, int nic);

/// Considers ports that are up and have an address that machines can use. Takes those that the fewest NICs
/// have already, because the topology says so or because they came first. Of these it returns one at the
/// NIC's NUMA node, else one of no known node, else any. Null if there is none.
const Port* nearest(const std::vector<Port>& ports, std::span<const NicPlace> places, int nic);

}  // namespace weir::real::rdma
