// Holds back the sums of all parameter servers until the last one is complete, like TensorFlow's
// SyncReplicasOptimizer. Servers report to the first worker, the chief; when all have reported, it hands out
// tokens.
#pragma once

#include <map>
#include <vector>

#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// Cost: two messages of one element for each server.
class UpdateBarrier {
 public:
  /// `complete` ends the part's sum on the server. `begun` is the first op that writes the slice `total`.
  /// `sends` then carry the sum away.
  struct Sum {
    Part part;
    Slice total;
    OpId begun;
    OpId complete;
    std::vector<OpId> sends;
  };
  void add(MachineId server, Sum sum) { sums_[server].push_back(std::move(sum)); }

  /// Adds the messages, and makes the sends wait for them. Call it once, after everything else. The chief
  /// must not be a server.
  void close(PlanBuilder& builder, MachineId chief) const;

 private:
  std::map<MachineId, std::vector<Sum>> sums_;
};

}  // namespace weir
