// CPU time shared among a lab's machines in proportion to their cores, by control groups of the kernel's: so
// a machine with many threads takes no CPU from another, as on a cluster.
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

/// Where a process stands among the control groups that share CPU time.
struct CpuGroup {
  int version = 0;     // of the kernel's control groups: 1 or 2
  std::string folder;  // of the process's own group
  friend bool operator==(const CpuGroup&, const CpuGroup&) = default;
};

/// From the texts of the process's mountinfo and cgroup in /proc. Fails if its group has no folder here.
Result<CpuGroup> cpu_group(const std::string& mounts, const std::string& groups);

/// The cores of each machine: of its NUMA nodes together, or as many as the largest machine has where the
/// topology does not say.
std::vector<int> cores_of(const Cluster& cluster);

/// Weights as the kernel takes them, which mean something beside each other only.
struct CpuWeights {
  std::vector<std::int64_t> machines;  // in proportion to their cores
  std::int64_t lab = 0;  // beside what else runs on the host: as threads of its own, one for each core
};

/// For control groups of that version, on a host of so many CPUs: a lab weighs no more than a few threads for
/// each of those, so that nobody who makes up large machines starves what else runs there.
CpuWeights cpu_weights(const std::vector<int>& cores, int version, int host_cpus);

/// The control groups of a lab: one folder in the group of the process that made them, and in it one for each
/// machine. A resource that may change hands. Invariant: the folders go, within seconds, once no process has
/// the guard's pipe open any more; processes that are still in them then go back to the group above. As long
/// as any process has `groups` open, the folder is locked (flock), and nobody takes it for a dead lab's.
struct CpuShares {
  std::string folder;
  Descriptor groups;  // the folder, open
  Guard guard;
  Descriptor handle;  // of the guard's process (pidfd)
};

/// How long a guard tries to remove the folders, and a little more.
constexpr Duration kSharesPatience = Duration(12'000'000'000);

/// Removes what labs of this user have left whose every process was killed, the guard too: groups that no
/// process is in and nobody has locked.
void sweep_cpu_groups();

/// Makes the groups of a lab, having swept those of dead ones. Fails, with nothing left of them, where that
/// is not allowed or not known; a lab can do without.
Result<CpuShares> share_cpus(const Cluster& cluster);

/// Moves the calling process into the machine's group in the folder that `groups` has open, if it is one.
/// Where the kernel forbids that, the process stays where it is.
void join_cpu_group(const Descriptor& groups, MachineId machine);

}  // namespace weir::real
