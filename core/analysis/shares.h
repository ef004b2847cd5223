// Which machine sums how much of the model: the optimal split between GPU machines and CPU machines, and the
// splits of the parameter servers that it is compared with.
//
// With n GPU machines, load w_i on machine i and M bytes (BytePS, OSDI'20, section 4.1, extended to machines
// that differ):
//  * a GPU machine sends and receives M + (n-2) w_i, a CPU machine n w_j;
//  * each machine sums (n-1) w, and passes over its memory three times for that;
//  * every link that machines share (PCIe switch, socket, bus, rack uplink) carries the bytes of all routes
//    over it.
// The split minimises the time T in which every link and every summing CPU can do its part: a linear program.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/options.h"

namespace weir {

struct Shares {
  std::vector<double> of_machine;  // fractions of the model; they sum to 1
  double seconds_per_byte = 0.0;   // time of the exchange per byte of model, at these shares
  std::string binding;             // the link or device that takes this time
};

enum class Summing {
  kOptimal,      // as the linear program splits it
  kCpuMachines,  // CPU machines only, equal shares: a non-colocated parameter server
  kGpuMachines,  // GPU machines only, equal shares: a colocated parameter server
};

/// The shares, for gradients of this dtype and these local stages. Fails if no machine can sum. If the split
/// is optimal, each CPU machine's share is then multiplied by `options.cpu_share_factor`, up to the whole
/// model, and GPU machines get the rest.
Result<Shares> shares_of(const Cluster& cluster, Dtype dtype, const Options& options,
                         const LocalStageOf& stages, Summing summing);

}  // namespace weir
