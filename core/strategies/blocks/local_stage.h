// The half of a plan that every strategy shares: on each GPU machine the backward and forward chain, and the
// way of each part from the GPUs to where machines exchange it, and back. A strategy adds the exchange in
// between.
#pragma once

#include <vector>

#include "core/plan/plan.h"
#include "core/strategies/blocks/local_scheme.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// The local stage of every GPU machine; kAuto of none.
using LocalStageOf = std::vector<LocalStage>;  // by machine

/// For strategies in which no part goes to host memory.
LocalStageOf no_local_stages(const Cluster& cluster);

/// One part's way on one machine.
struct LocalWay {
  MachineId machine;
  int nic = 0;
  const LocalScheme* scheme = nullptr;
  Slice staging;              // where machines exchange the part
  std::vector<Slice> landed;  // by group: where its sum lands in host memory
  OpId begun;                 // the first op of the way out that writes the staging slice
  OpId ready;                 // the machine's sum is there
};

/// Cost of the stage per machine with g GPUs and M bytes, reduce-scatter: (g-1)/g M over each hop of the ring
/// of GPUs and M/g over each GPU's way to host memory, both ways; reduce: M over each hop and over the root's
/// way; in several groups, each its own. The cluster, the workload and the builder outlive it.
class LocalStages {
 public:
  /// `stages` holds what each machine's topology allows (local_choice.h).
  LocalStages(const Cluster& cluster, const Workload& workload, const Options& options,
              const LocalStageOf& stages, PlanBuilder& builder);

  /// The machine's gradient buffer, one replica a GPU.
  BufferId gradient(MachineId machine) const { return at(machine).gradient; }
  GroupId all_gpus(MachineId machine) const { return at(machine).all_gpus; }

  /// Adds the way out: from the backward of the part's layers to the machine's sum in the way's staging
  /// slice. That lies on the NUMA node of the NIC which the part uses, or where the options place it; if
  /// `direct` and the machine's stage allows it, on a GPU beside that NIC.
  LocalWay out(MachineId machine, const Part& part, int nic, bool direct = false);
  /// The same for what one GPU alone has, where the machine's stage is kApart; the way ends with that GPU.
  LocalWay out_of_gpu(MachineId machine, int gpu, const Part& part, int nic);
  /// The same by a scheme of the caller's choice, which outlives this, and with staging on the NUMA node
  /// `near`.
  LocalWay out_by(const LocalScheme& scheme, MachineId machine, const Part& part, int nic, int near,
                  bool direct);
  /// Adds the way in, after all the ops of `after`: from staging to every GPU; the next forward waits for it.
  void in(const LocalWay& way, const Part& part, const std::vector<OpId>& after);

  /// When the machine's scheduler has let the part go on, which is ready after the op: that op, or the wait
  /// for part_overhead after it.
  OpId scheduled(MachineId machine, const Part& part, OpId ready);

  /// The op that finishes the gradient of the layer on all GPUs of the machine.
  OpId backward(MachineId machine, int layer) const {
    return at(machine).backward[static_cast<std::size_t>(layer)];
  }
  /// The op after which the gradient of the layer may leave the machine's GPUs.
  OpId released(MachineId machine, int layer) const {
    return backward(machine, options_.overlap || options_.independent_layers ? layer : 0);
  }
  /// The forward of the part's layers waits for the op too.
  void needed(MachineId machine, const Part& part, OpId op);

  /// Adds the forward chains, and the order of sums if the options ask for one; to be called once, last.
  void close();

 private:
  // What parts go by that use one NIC, and which is next.
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
    std::vector<BufferId> landing;         // by NUMA node: of sums that are not the machine's yet
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

/// A message between two machines: the pair of ops, matched. Edges are the caller's matter.
struct Message {
  OpId send;
  OpId receive;
};

/// Where one end of a message is.
struct Endpoint {
  MachineId machine;
  int nic = 0;
  Slice slice;
};

/// Adds both ends; the part gives dtype, priority and layer.
Message add_message(PlanBuilder& builder, const Part& part, const Endpoint& source, const Endpoint& target);

/// Adds into += from on the machine.
OpId add_sum(PlanBuilder& builder, const Part& part, MachineId machine, const Slice& from, const Slice& into);

/// Adds a wait or a hold of that time, after the op.
OpId add_delay(PlanBuilder& builder, const Part& part, MachineId machine, OpKind kind, Duration time,
               OpId after);

/// What is done when all the ops are: the op itself if there is one, else a join.
OpId join(PlanBuilder& builder, const Part& part, MachineId machine, const std::vector<OpId>& ops);

/// An op of this kind that works for the part on the machine; slices are the caller's matter.
Op op_for(const Part& part, MachineId machine, OpKind kind);

}  // namespace weir
