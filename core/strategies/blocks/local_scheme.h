// What there is to choose inside a machine: between which GPUs a part is reduced, and which of them copy it
// to host memory and back (BytePS, OSDI'20, section 4.2).
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"

namespace weir {

/// How one part gets from the GPUs to where machines exchange it, and back. It is summed over each group of
/// GPUs; each group copies its sum to host memory, where the CPU adds up those of several groups; on the way
/// back each group gets a copy.
struct LocalScheme {
  std::vector<std::vector<int>> groups;  // each in ascending order; together all GPUs
  bool scatter = true;  // each GPU of a group copies its share; else `root`, of the only group
  int root = 0;
  bool direct = false;  // between the root and the NIC, without host memory
  friend bool operator==(const LocalScheme&, const LocalScheme&) = default;
};

/// A scheme and the fraction of the bytes that go by it.
struct LocalMix {
  LocalScheme scheme;
  double fraction = 1.0;
};

/// The schemes of one machine under a local stage, for bytes that go through one of its NICs (any number in a
/// machine without NICs). `stage` is not kAuto, and the machine has what it needs. Of kApart a scheme for
/// each GPU, which knows no other and by which all bytes go.
std::vector<LocalMix> local_mix(const Cluster& cluster, MachineId id, int nic, LocalStage stage,
                                double brute_force);

/// An error that names what the machine lacks for the stage, if it does.
Result<void> check_local(const Cluster& cluster, MachineId id, LocalStage stage);

/// The stages that make sense on a machine, the one that BytePS's rules prefer (OSDI'20, 4.2.3) first: if
/// some PCIe switches hold GPUs and NICs and others GPUs alone, roots that do not share a NIC's switch; else
/// every GPU its shard, switch by switch if there is no NVLink. And why that one.
struct LocalCandidates {
  std::vector<LocalStage> stages;
  std::string_view why;
};
LocalCandidates local_candidates(const Cluster& cluster, MachineId id);

}  // namespace weir
