// Judges what was found on a host: what looks wrong, slow or good to know. Pure functions, so that tests can
// check hosts that nobody has at hand.
#pragma once

#include "backends/real/discovery/finding.h"
#include "backends/real/discovery/gpu_state.h"
#include "backends/real/discovery/host_limits.h"
#include "backends/real/discovery/host_parts.h"
#include "backends/real/wire/rdma/survey.h"

namespace weir::real {

/// CPUs and NUMA nodes; memory, locked memory and huge pages; the limit of open files.
Findings check_host(const HostParts& parts, const HostLimits& limits);

/// Each NIC, and whether there is one.
Findings check_nics(const HostParts& parts);

/// Driver, links and modes of the GPUs, as the driver reports them.
Findings check_gpus(const HostParts& parts, const HostLimits& limits);

/// What CUDA and NCCL can do with them.
Findings check_cuda(const HostParts& parts, const GpuState& state);

/// RDMA devices: whether machines can use them, with which addresses, and the memory that must be locked for
/// them.
Findings check_rdma(const rdma::Survey& survey, const HostLimits& limits);

}  // namespace weir::real
