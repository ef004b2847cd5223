// The choices inside a machine: among which GPUs a part is reduced, and which GPUs copy it to host memory and
// back (BytePS, OSDI'20, section 4.2).
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"

namespace weir {

/// How one part gets from the GPUs to where machines exchange it, and back. Each group of GPUs sums it and
/// copies its sum to host memory. There the CPU adds up the sums of several groups. On the way back each
/// group gets a copy.
struct LocalScheme {
  std::vector<std::vector<int>> groups;  // each in ascending order; together all GPUs
  bool scatter = true;  // each GPU of a group copies its share; if not, `root` of the only group copies all
  int root = 0;
  bool direct = false;  // moves directly between the root and the NIC, without host memory
  friend bool operator==(const LocalScheme&, const LocalScheme&) = default;
};

/// A scheme, and the fraction of the bytes that use it.
struct LocalMix {
  LocalScheme scheme;
  double fraction = 1.0;
};

/// The schemes of one machine with this local stage, for bytes that go through this NIC (any number for a
/// machine without NICs). `stage` must not be kAuto, and the machine must have what it needs. kApart gives a
/// separate scheme for each GPU, each for all of that GPU's bytes.
std::vector<LocalMix> local_mix(const Cluster& cluster, MachineId id, int nic, LocalStage stage,
                                double brute_force);

/// Fails if the machine lacks something that the stage needs, and names it.
Result<void> check_local(const Cluster& cluster, MachineId id, LocalStage stage);

/// The stages that make sense on a machine, and why the first one is preferred. BytePS's rules decide
/// (OSDI'20, 4.2.3). If some PCIe switches hold GPUs and NICs and others only GPUs, they prefer roots that do
/// not share a NIC's switch. Otherwise every GPU copies its shard; without NVLink, switch by switch.
struct LocalCandidates {
  std::vector<LocalStage> stages;
  std::string_view why;
};
LocalCandidates local_candidates(const Cluster& cluster, MachineId id);

}  // namespace weir
