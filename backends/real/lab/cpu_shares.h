// Shares CPU time among a lab's machines in proportion to their cores, with the kernel's control groups. So a
// machine with many threads takes no CPU from another, as on a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "backends/real/process/guard.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"

namespace weir::real {

/// The control group of a process that shares CPU time.
struct CpuGroup {
  int version = 0;     // of the kernel's control groups: 1 or 2
  std::string folder;  // of the process's own group
  friend bool operator==(const CpuGroup&, const CpuGroup&) = default;
};

/// Finds it in the texts of the process's mountinfo and cgroup in /proc. Fails if the group has no folder
/// here.
Result<CpuGroup> cpu_group(const std::string& mounts, const std::string& groups);

/// The cores of each machine: the sum over its NUMA nodes or, if the topology does not state them, as many as
/// the largest machine has.
std::vector<int> cores_of(const Cluster& cluster);

/// Weights as the kernel takes them. Only their ratios matter.
struct CpuWeights {
  std::vector<std::int64_t> machines;  // in proportion to their cores
  std::int64_t lab = 0;                // against all else on the host: as one thread for each core
};

/// Weights for control groups of that version, on a host with so many CPUs. A lab weighs no more than a few
/// threads for each CPU, so that huge imagined machines do not starve what else runs there.
CpuWeights cpu_weights(const std::vector<int>& cores, int version, int host_cpus);

/// The control groups of a lab: one folder in the group of the process that made them, with one folder for
/// each machine. A resource that can be moved. Invariant: once no process has the guard's pipe open any more,
/// the folders disappear within seconds, and processes that are still in them return to the group above.
/// While any process has `groups` open, the folder is locked (flock), so that no sweep takes it for a dead
/// lab's.
struct CpuShares {
  std::string folder;
  Descriptor groups;  // the folder, open
  Guard guard;
  Descriptor handle;  // the guard's process (pidfd)
};

/// How long a guard tries to remove the folders, and a little more.
constexpr Duration kSharesPatience = Duration(12'000'000'000);

/// Removes groups of this user's labs whose processes were all killed, even the guard: groups without
/// processes that no process has locked.
void sweep_cpu_groups();

/// Makes the groups of a lab, after a sweep of dead ones. If they are not allowed or not supported, fails and
/// leaves nothing behind; a lab works without them.
Result<CpuShares> share_cpus(const Cluster& cluster);

/// Moves the calling process into the machine's group in the folder open as `groups`, if that is valid. If
/// the kernel forbids it, the process stays where it is.
void join_cpu_group(const Descriptor& groups, MachineId machine);

}  // namespace weir::real
