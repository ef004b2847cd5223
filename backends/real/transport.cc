#include "backends/real/transport.h"

#include <set>

namespace weir::real {

std::vector<MachineId> peers_of(const Plan& plan, MachineId machine) {
  std::set<MachineId> peers;
  for (const Op& op : plan.ops(machine)) {
    if (is_message(op.kind)) peers.insert(op.peer);
  }
  return {peers.begin(), peers.end()};
}

}  // namespace weir::real
