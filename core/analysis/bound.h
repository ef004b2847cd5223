// Bounds on the length of an iteration, without simulation, and the resource that sets each bound.
//
// In an iteration, the parts of layers 0..l exist once the backward of layer l is done. They must have been
// exchanged when the forward of layer l begins. The backward of the layers from l on comes before, their
// forward after. So for every l
//     iteration >= sum over layers j >= l of (backward_j + forward_j) + time of the exchange of layers 0..l.
//
// This holds for an iteration that all machines start together. Later, one machine may begin an iteration
// while another still ends the one before, so less holds for a stretch of iterations or for a period
// (stretch.h): what each iteration loads on a resource, and cycles of machines or ops that wait for each
// other across iterations (exchanges.h, critical_path.h).
#pragma once

#include <string>
#include <vector>

#include "core/analysis/shares.h"
#include "core/analysis/stretch.h"
#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/workload/workload.h"

namespace weir {

struct Bound {
  Duration time;        // the mean of the iterations of the stretch
  std::string binding;  // a link, a device, "compute" or "critical path"
};

/// One thing that an iteration needs, and the bounds that follow, for the layer l that makes them longest.
struct Need {
  std::string name;   // as in Bound::binding
  MachineId machine;  // for a link or a device of one machine
  Bytes bytes;        // bytes that pass it in an iteration; 0 if it is not a link
  BytesPerSecond rate;
  Duration whole;     // how long an iteration occupies it
  int layer = 0;      // l
  Duration compute;   // backward and forward of the layers from l on, or of all layers
  Duration exchange;  // how long layers 0..l occupy it
  Duration time;      // compute + exchange: the bound of the first iteration
  Duration steady;    // the bound of the period of a run that never ends
};

/// What no schedule of any strategy can beat on this cluster. cluster_needs() returns all needs, the longest
/// first; cluster_bound() only the first. Let there be n GPU machines of NIC rates B_i, and CPU machines of
/// rates C_j. Then the exchange of M bytes takes at least:
///  * M / B_i for every i, in each direction: each GPU machine's gradient leaves it and the sum arrives;
///  * 4(n-1) M / (sum B_i + (n-2)/n sum C_j), both directions added up. To sum n values in a tree and to
///    spread the sum takes 2(n-1) transfers of each byte between GPU machines, each through two NICs. A CPU
///    machine that takes part in either adds one transfer and can be an end of n transfers. (For equal rates
///    this is Eq. 6 of BytePS, OSDI'20.)
///  * M over the uplink of any rack that holds some but not all GPU machines;
///  * M over the links that leave each GPU, and over those that enter it.
std::vector<Need> cluster_needs(const Cluster& cluster, const Workload& workload);
Bound cluster_bound(const Cluster& cluster, const Workload& workload, const Stretch& stretch);

/// What no plan can beat that pushes, sums and pulls parts with this split: the needs above, and the exchange
/// at the split's own time per byte. It needs no plan, so it works for the largest clusters.
Bound split_bound(const Cluster& cluster, const Workload& workload, const Shares& shares,
                  const Stretch& stretch);

/// What this plan cannot beat: the load of each link over its rate, and the time that its ops occupy each
/// device, both layer by layer as above; and the longest path through its ops. The longest first.
std::vector<Need> plan_needs(const Plan& plan, const Cluster& cluster, const Workload& workload);
Bound plan_bound(const Plan& plan, const Cluster& cluster, const Workload& workload, const Stretch& stretch);
/// For a caller who already has the plan's table on the cluster.
Bound plan_bound(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
                 const Stretch& stretch);

/// How many bytes of the model any schedule can exchange in a second during which messages are under way, by
/// the first three of the cluster's needs. Unlimited with fewer than two GPU machines.
BytesPerSecond goodput_bound(const Cluster& cluster);

}  // namespace weir
