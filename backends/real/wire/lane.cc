#include "backends/real/wire/lane.h"

#include <map>
#include <tuple>

namespace weir::real {

Lane lane_of(const Plan& plan, const Op& op) {
  const MessageEnds ends = plan.messages()[op.message.index()];
  return {op.peer, op.nic, plan.op(ends.other(op.id)).nic};
}

std::vector<Lane> lanes_of(const Plan& plan, MachineId machine) {
  // Sorted by peer, then by the NICs, those of the machine with the smaller number first.
  std::map<std::tuple<MachineId, int, int>, Lane> lanes;
  for (const Op& op : plan.ops(machine)) {
    if (!is_message(op.kind)) continue;
    const Lane lane = lane_of(plan, op);
    const bool first = machine < lane.peer;
    lanes.try_emplace({lane.peer, first ? lane.nic : lane.peer_nic, first ? lane.peer_nic : lane.nic}, lane);
  }
  std::vector<Lane> all;
  for (const auto& [key, lane] : lanes) all.push_back(lane);
  return all;
}

}  // namespace weir::real
