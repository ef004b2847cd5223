// Where threads may run: the CPUs of this machine, of its NUMA nodes and of this process.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"

namespace weir::real {

/// The NUMA nodes of this machine, by the system's numbers, in order; node 0 alone where the system tells of
/// none. Any thread may ask.
std::vector<int> numa_nodes();

/// The CPUs that this process may use, by the system's numbers, in order: those of its first thread, so that
/// threads that have pinned themselves get the same answer.
std::vector<int> allowed_cpus();

/// How many threads a machine should move bytes with if so many machines share these CPUs: four fill 25 Gbps
/// both ways, and more than there are CPUs only wake each other.
constexpr int kMostIoThreads = 4;
int io_threads_for(std::size_t machines);

/// Those of them that belong to the NUMA node. An error if there is no such node, or if it has none of them.
Result<std::vector<int>> cpus_of(int numa);

/// Has the calling thread run on these CPUs only, from now on; threads that it starts inherit this. An error
/// if the system refuses, as where none of them is allowed.
Result<void> pin_to_cpus(std::span<const int> cpus);

/// Has the calling thread run on the NUMA node's CPUs only.
Result<void> pin_to_numa(int numa);

/// "0-3,8" as numbers in order, as the system writes lists of CPUs and of nodes; none of a text that is no
/// such list.
std::vector<int> numbers_in(const std::string& list);

}  // namespace weir::real
