// What is missing, slow or wrong on this host: CPUs, memory, limits, NICs, RDMA, the lab, and GPUs with their
// driver, links, CUDA and NCCL.
#pragma once

#include <functional>

#include "backends/real/discovery/finding.h"

namespace weir {

/// All findings, in order. Calls `found` with each as soon as it is known. Each check runs in a process of
/// its own and takes at most 10 s. Call it from a process with one thread.
real::Findings check_this_host(const std::function<void(const real::Finding& finding)>& found = {});

}  // namespace weir
