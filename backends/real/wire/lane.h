// What messages between two machines take: from one NIC into one NIC.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/plan/plan.h"

namespace weir::real {

/// What messages between one NIC of this node and one of a peer take.
struct Lane {
  MachineId peer;
  int nic = 0;
  int peer_nic = 0;
  friend auto operator<=>(const Lane&, const Lane&) = default;
};

/// The lanes that the machine's messages take. Two machines have the lanes between them in the same order.
std::vector<Lane> lanes_of(const Plan& plan, MachineId machine);
/// The lane of a message. The op is this machine's end of it.
Lane lane_of(const Plan& plan, const Op& op);

}  // namespace weir::real
