// The half of a plan that every strategy shares: on each GPU machine, the chain of backward and forward, and
// the way of each part from the GPUs to where machines exchange it, and back. A strategy adds the exchange in
// between.
#pragma once

#include <vector>

#include "core/plan/plan.h"
#include "core/strategies/blocks/local_scheme.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// The local stage of every GPU machine; never kAuto.
using LocalStageOf = std::vector<LocalStage>;  // by machine

/// For strategies in which no part goes to host memory.
LocalStageOf no_local_stages(const Cluster& cluster);

/// One part's way on one machine.
struct LocalWay {
  MachineId machine;
  int nic = 0;
  const LocalScheme* scheme = nullptr;
  Slice staging;              // where machines exchange the part
  std::vector<Slice> landed;  // by group: where the group's sum lands in host memory
  OpId begun;                 // the first op of the way out that writes the staging slice
  OpId ready;                 // the op after which the machine's sum is complete
};

/// Cost of the stage per machine with g GPUs and M bytes. Reduce-scatter: (g-1)/g M over each hop of the ring
/// of GPUs and M/g over each GPU's way to host memory, in both directions. Reduce: M over each hop and over
/// the root's way. Several groups: each group has its own cost. The cluster, the workload and the builder
/// must outlive it.
class LocalStages {
 public:
  /// Each machine's topology must allow its entry in `stages` (local_choice.h).
  LocalStages(const Cluster& cluster, const Workload& workload, const Options& options,
              const LocalStageOf& stages, PlanBuilder& builder);

  /// The machine's gradient buffer, one replica a GPU.
  BufferId gradient(MachineId machine) const { return at(machine).gradient; }
  GroupId all_gpus(MachineId machine) const { return at(machine).all_gpus; }

  /// Adds the way out: from the backward of the part's layers to the machine's sum in the way's staging
  /// slice. This slice lies on the NUMA node of the part's NIC, or where the options place it. If `direct` is
  /// set and the machine's stage allows it, it lies on a GPU beside that NIC.
  LocalWay out(MachineId machine, const Part& part, int nic, bool direct = false);
  /// The same for the gradient of a single GPU, if the machine's stage is kApart.
  LocalWay out_of_gpu(MachineId machine, int gpu, const Part& part, int nic);
  /// The same with a scheme that the caller chooses, which must outlive this, and with staging on the NUMA
  /// node `near`.
  LocalWay out_by(const LocalScheme& scheme, MachineId machine, const Part& part, int nic, int near,
                  bool direct);
  /// Adds the way in, after all the ops of `after`: from staging to every GPU. The next forward waits for it.
  void in(const LocalWay& way, const Part& part, const std::vector<OpId>& after);

  /// The op after which the machine's scheduler has released a part that is ready after the given op: that op
  /// itself, or a wait for part_overhead after it.
  OpId scheduled(MachineId machine, const Part& part, OpId ready);

  /// The op that finishes the gradient of the layer on all GPUs of the machine.
  OpId backward(MachineId machine, int layer) const {
    return at(machine).backward[static_cast<std::size_t>(layer)];
  }
  /// The op after which the gradient of the layer may leave the machine's GPUs.
  OpId released(MachineId machine, int layer) const {
    return backward(machine, options_.overlap || options_.independent_layers ? layer : 0);
  }
  /// Makes the forward of the part's layers wait for the op too.
  void needed(MachineId machine, const Part& part, OpId op);

  /// Adds the forward chains, and orders the sums if the options ask for it. Call it once, after everything
  /// else.
  void close();

 private:
  // The schemes for parts that use one NIC, and which scheme is next.
  struct Schemes {
    std::vector<LocalMix> mix;
    Turns turns;
  };
  struct State {
    BufferId gradient;
    GroupId all_gpus;
    std::vector<Schemes> schemes;          // by NIC
    std::vector<OpId> backward;            // by layer
    std::vector<std::vector<OpId>> needs;  // by layer: what its forward waits for
    std::vector<BufferId> staging;         // by NUMA node; none until used
    std::vector<BufferId> landing;         // by NUMA node: for sums of only some GPUs
  };
  State& at(MachineId machine) { return state_[machine.index()]; }
  const State& at(MachineId machine) const { return state_[machine.index()]; }
  void add_backward(MachineId machine);
  Duration on_gpus(MachineId machine, Duration time) const;
  Slice reserve(std::vector<BufferId>& buffers, MachineId machine, int numa, Buffer::Role role,
                const Part& part);
  std::vector<Slice> landings(const LocalWay& way, const Part& part);
  OpId reduced(const LocalWay& way, const Part& part, const std::vector<int>& gpus);
  OpId copy(const Part& part, MachineId machine, const Slice& from, const Slice& into, OpId after);
  Slice held(const LocalWay& way, const Part& part, const std::vector<int>& gpus, bool whole);

  const Cluster* cluster_;
  const Workload* workload_;
  Options options_;
  PlanBuilder* builder_;
  NumaTurns numas_;
  std::vector<State> state_;
};

/// A message between two machines: a matched pair of ops. The caller adds edges.
struct Message {
  OpId send;
  OpId receive;
};

/// The place of one end of a message.
struct Endpoint {
  MachineId machine;
  int nic = 0;
  Slice slice;
};

/// Adds both ends. The part determines dtype, priority and layer.
Message add_message(PlanBuilder& builder, const Part& part, const Endpoint& source, const Endpoint& target);

/// Adds into += from on the machine.
OpId add_sum(PlanBuilder& builder, const Part& part, MachineId machine, const Slice& from, const Slice& into);

/// Adds a wait or a hold of this duration, after the op.
OpId add_delay(PlanBuilder& builder, const Part& part, MachineId machine, OpKind kind, Duration time,
               OpId after);

/// An op that is done when all these ops are: the op itself if there is only one, otherwise a join.
OpId join(PlanBuilder& builder, const Part& part, MachineId machine, const std::vector<OpId>& ops);

/// An op of this kind that works for the part on the machine. The caller sets the slices.
Op op_for(const Part& part, MachineId machine, OpKind kind);

}  // namespace weir
