// Holds back the sums of all parameter servers until the last one is complete, as TensorFlow's
// SyncReplicasOptimizer does: servers tell the first worker, its chief, which hands out tokens then.
#pragma once

#include <map>
#include <vector>

#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// Cost: two messages of one element for each server.
class UpdateBarrier {
 public:
  /// `complete` ends the part's sum on the server, in the slice that `begun` writes first, and `sends` then
  /// carry it away.
  struct Sum {
    Part part;
    Slice total;
    OpId begun;
    OpId complete;
    std::vector<OpId> sends;
  };
  void add(MachineId server, Sum sum) { sums_[server].push_back(std::move(sum)); }

  /// Adds the messages, and lets the sends wait for them; to be called once, last. The chief is no server.
  void close(PlanBuilder& builder, MachineId chief) const;

 private:
  std::map<MachineId, std::vector<Sum>> sums_;
};

}  // namespace weir
