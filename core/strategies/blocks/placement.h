// Assigns the parts of a workload to the machines that sum them, as close to given shares as whole elements
// allow. It spreads them evenly over the model, so that every machine is busy from the first gradient to the
// last.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// A place where parts can be summed: behind a NIC of a machine, in the memory of the NIC's NUMA node.
struct Summer {
  MachineId machine;
  int nic = 0;
  double share = 0.0;  // the fraction of the model; over all summers they sum to 1
};

/// Every NIC of the machines that have a share, with its fraction of the share. Machines take turns: all
/// first NICs come before all second ones.
std::vector<Summer> summers(const Cluster& cluster, const std::vector<double>& share_of_machine);

struct PlacedPart {
  Part part;
  MachineId owner;        // the machine that sums it
  int nic = 0;            // the NIC through which the owner receives and sends it
  std::size_t index = 0;  // its number among the owner's parts
};

/// Places the parts in the given order, which should be the order in which they are expected to be served.
/// Parts are cut where a share ends. Each part goes to the summer that lags most behind its share, so any run
/// of parts is spread evenly. A summer's load exceeds its share of the bytes by at most 1 % and 1 KB; large
/// shares by at most 0.05 % and 40 KB.
std::vector<PlacedPart> place(const std::vector<Part>& parts, const std::vector<Summer>& summers);

/// The order in which a send queue is expected to serve the parts, if each leaves as soon as the options
/// (policy, overlap) allow and the whole model takes `exchange`. Returns indices into `parts`, which must be
/// in order of readiness.
std::vector<std::size_t> service_order(const Workload& workload, const std::vector<Part>& parts,
                                       const Options& options, Duration exchange);

}  // namespace weir
