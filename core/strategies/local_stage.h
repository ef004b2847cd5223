// The half of a plan that every strategy shares: on each GPU machine the backward and forward chain, and the
// way of each part from the GPUs to where machines exchange it, and back. A strategy adds the exchange in
// between.
#pragma once

#include <vector>

#include "core/plan/plan.h"
#include "core/strategies/options.h"
#include "core/workload/workload.h"

namespace weir {

/// Cost of the stage per machine with g GPUs and M bytes, reduce-scatter: (g-1)/g M over each hop of the ring
/// of GPUs and M/g over each GPU's way to host memory, both ways; reduce: M over each hop and over the root's
/// way. The cluster, the workload and the builder outlive it.
class LocalStages {
 public:
  LocalStages(const Cluster& cluster, const Workload& workload, const Options& options, PlanBuilder& builder);

  /// The machine's gradient buffer, one replica a GPU.
  BufferId gradient(MachineId machine) const { return at(machine).gradient; }
  GroupId all_gpus(MachineId machine) const { return at(machine).all_gpus; }
  /// Reserves the part's place in the machine's staging memory, on the NUMA node of the NIC that the part
  /// uses.
  Slice staging(MachineId machine, const Part& part, int nic);

  /// Adds the way out: from the backward of the part's layers to the machine's sum in the staging slice.
  /// Returns the last op, the one that writes it.
  OpId out(MachineId machine, const Part& part, const Slice& staging);
  /// Adds the way in, after all the ops of `after`: from staging to every GPU; the next forward waits for it.
  void in(MachineId machine, const Part& part, const Slice& staging, const std::vector<OpId>& after);

  /// The op that finishes the gradient of the layer on all GPUs of the machine.
  OpId backward(MachineId machine, int layer) const {
    return at(machine).backward[static_cast<std::size_t>(layer)];
  }
  /// The forward of the part's layers waits for the op too.
  void needed(MachineId machine, const Part& part, OpId op);

  /// Adds the forward chains; to be called once, last.
  void close();

 private:
  struct State {
    BufferId gradient;
    GroupId all_gpus;
    int root = 0;                          // the GPU that a reduction ends on
    std::vector<OpId> backward;            // by layer
    std::vector<std::vector<OpId>> needs;  // by layer: what its forward waits for
    std::vector<BufferId> staging;         // by NUMA node; none until used
  };
  State& at(MachineId machine) { return state_[machine.index()]; }
  const State& at(MachineId machine) const { return state_[machine.index()]; }
  void add_backward(MachineId machine);
  Duration on_gpus(MachineId machine, Duration time) const;

  const Cluster* cluster_;
  const Workload* workload_;
  Options options_;
  PlanBuilder* builder_;
  std::vector<State> state_;
};

/// A message between two machines: the pair of ops, matched. Edges are the caller's matter.
struct Message {
  OpId send;
  OpId receive;
};

/// Where one end of a message is.
struct End {
  MachineId machine;
  int nic = 0;
  Slice slice;
};

/// Adds both ends; the part gives dtype, priority and layer.
Message add_message(PlanBuilder& builder, const Part& part, const End& source, const End& target);

/// Adds into += from on the machine.
OpId add_sum(PlanBuilder& builder, const Part& part, MachineId machine, const Slice& from, const Slice& into);

/// An op of this kind that works for the part on the machine; slices are the caller's matter.
Op op_for(const Part& part, MachineId machine, OpKind kind);

}  // namespace weir
