// Where threads may run: the CPUs of this machine, of its NUMA nodes and of this process.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"

namespace weir::real {

/// The NUMA nodes of this machine by the system's numbers, in order; only node 0 if the system lists none.
/// Any thread may ask.
std::vector<int> numa_nodes();

/// The CPUs that this process may use, by the system's numbers, in order. They are those of its first thread,
/// so that threads that have pinned themselves get the same answer.
std::vector<int> allowed_cpus();

/// How many threads should move bytes on each of `machines` that share these CPUs. Four fill 25 Gbps both
/// ways; more threads than CPUs only wake each other.
constexpr int kMostIoThreads = 4;
int io_threads_for(std::size_t machines);

/// The allowed CPUs that belong to the NUMA node. Fails if there is no such node, or if it has none of them.
Result<std::vector<int>> cpus_of(int numa);

/// From now on, the calling thread runs on these CPUs only; threads that it starts inherit this. Fails if the
/// system refuses, for example if none of them is allowed.
Result<void> pin_to_cpus(std::span<const int> cpus);

/// From now on, the calling thread runs on the NUMA node's CPUs only.
Result<void> pin_to_numa(int numa);

/// Parses "0-3,8", the system's way of writing lists of CPUs and nodes, into numbers in order. None if the
/// text is not such a list.
std::vector<int> numbers_in(const std::string& list);

}  // namespace weir::real
