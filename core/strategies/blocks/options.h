// What a user may choose about a strategy; the defaults stand here and nowhere else.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/base/units.h"
#include "core/document/fields.h"
#include "core/run/queue.h"

namespace weir {

/// How gradients get from a machine's GPUs to its host memory and back.
enum class LocalStage {
  kAuto,           // what the machine's topology asks for (local_choice.h)
  kReduceScatter,  // reduce-scatter over the GPUs, each copies its share; back: copies, then all-gather
  kReduce,         // reduce to one GPU, away from the NICs, which copies; back: its copy, then broadcast
  kReduceInTurn,   // the same, part by part to another of the GPUs that are as far from the NICs
  kCpuAssisted,    // reduce-scatter under each PCIe switch; the CPU adds up what the switches' GPUs copy
  kGpuDirect,      // reduce to a GPU under the NIC's switch, which the NIC reads and writes itself
  kApart,          // nothing: each GPU's gradient goes on its own, and each GPU gets a sum of its own
};

constexpr auto enum_names(LocalStage /*local*/) {
  return std::array<Named<LocalStage>, 7>{{{LocalStage::kAuto, "auto"},
                                           {LocalStage::kReduceScatter, "reduce_scatter"},
                                           {LocalStage::kReduce, "reduce"},
                                           {LocalStage::kReduceInTurn, "reduce_in_turn"},
                                           {LocalStage::kCpuAssisted, "cpu_assisted"},
                                           {LocalStage::kGpuDirect, "gpu_direct"},
                                           {LocalStage::kApart, "apart"}}};
}

/// Over what frameworks that fuse or cut tensors themselves run their all-reduces.
enum class Collective {
  kFlatRing,      // NCCL's ring over all GPUs
  kHierarchical,  // reduce-scatter in each machine, a ring among machines per GPU, all-gather
  kNccl,          // NCCL's own all-reduce, which simulated worlds take for its ring
};

constexpr auto enum_names(Collective /*collective*/) {
  return std::array<Named<Collective>, 3>{{{Collective::kFlatRing, "flat_ring"},
                                           {Collective::kHierarchical, "hierarchical"},
                                           {Collective::kNccl, "nccl"}}};
}

/// How parts find the machine that sums them.
enum class PartPlacement {
  kBalanced,  // as closely to the shares as elements allow (placement.h)
  kHash,      // by BytePS's hash of tensor and part, whatever their sizes (hashed_placement.h)
  kInTurn,    // whole tensors, one machine after the other, as TensorFlow places them
};

constexpr auto enum_names(PartPlacement /*placement*/) {
  return std::array<Named<PartPlacement>, 3>{{{PartPlacement::kBalanced, "balanced"},
                                              {PartPlacement::kHash, "hash"},
                                              {PartPlacement::kInTurn, "in_turn"}}};
}

/// On which of a machine's NUMA nodes lies what goes through a NIC: staging, landing and accumulating memory.
/// The cores of that node sum it.
enum class NumaPlacement {
  kNic,     // that of the NIC
  kFar,     // the next one, where there is one
  kSpread,  // all in turn
};

constexpr auto enum_names(NumaPlacement /*placement*/) {
  return std::array<Named<NumaPlacement>, 3>{
      {{NumaPlacement::kNic, "nic"}, {NumaPlacement::kFar, "far"}, {NumaPlacement::kSpread, "spread"}}};
}

/// How what a GPU machine sums itself of its own gradient gets to the sum, and the sum back.
enum class Loopback {
  kMemory,  // it lies where it is summed
  kNic,     // as messages of the machine to itself, out of its NIC and into it; in simulated worlds alone
};

constexpr auto enum_names(Loopback /*loopback*/) {
  return std::array<Named<Loopback>, 2>{{{Loopback::kMemory, "memory"}, {Loopback::kNic, "nic"}}};
}

/// In which order values of several machines, or of a machine's switches, are added up.
enum class SumOrder {
  kReady,  // as they come: the last bits of floating-point sums differ from run to run
  kPlan,   // as the plan has them: every run gives the same bits
};

constexpr auto enum_names(SumOrder /*order*/) {
  return std::array<Named<SumOrder>, 2>{{{SumOrder::kReady, "ready"}, {SumOrder::kPlan, "plan"}}};
}

/// What a parameter server does with a sum before it sends it back.
enum class Optimizer {
  kNone,  // nothing: workers update their parameters themselves
  kSgd,
  kMomentum,
  kRmsprop,
  kAdam,
};

constexpr auto enum_names(Optimizer /*optimizer*/) {
  return std::array<Named<Optimizer>, 5>{{{Optimizer::kNone, "none"},
                                          {Optimizer::kSgd, "sgd"},
                                          {Optimizer::kMomentum, "momentum"},
                                          {Optimizer::kRmsprop, "rmsprop"},
                                          {Optimizer::kAdam, "adam"}}};
}

/// How often a step passes over memory for each parameter: the gradient is read, the parameter and whatever
/// state it has are read and written.
constexpr int memory_passes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kNone:
      return 0;
    case Optimizer::kSgd:
      return 3;
    case Optimizer::kMomentum:
    case Optimizer::kRmsprop:
      return 5;
    case Optimizer::kAdam:
      return 7;
  }
  return 0;
}

struct Options {
  /// The largest part of a tensor that parameter servers, trees and the unified strategy send as one message.
  Bytes partition_size = Bytes(4'000'000);
  /// Where parts of partition_size would leave NICs idle for a noticeable part of the iteration, until the
  /// first sums are complete and after the last pushes are, parts are cut finer, but not below this. The same
  /// as partition_size: never cut finer.
  Bytes finest_part = Bytes(131'072);
  /// The largest bucket of neighbouring tensors that ring and hierarchical all-reduce work on at once.
  Bytes fusion_size = Bytes(32'000'000);
  /// The send window of a NIC: this many times partition_size; none is unlimited. (The credit of BytePS.)
  std::optional<int> credit = 4;
  Policy policy = Policy::kPriority;
  LocalStage local = LocalStage::kAuto;
  /// The fraction of the bytes that kCpuAssisted has every GPU copy to host memory unreduced.
  double brute_force = 0.0;
  /// The unified strategy's CPU machines sum this many times what the optimal split gives them (all of the
  /// model at most), and the GPU machines the rest: to see that the optimum is one.
  double cpu_share_factor = 1.0;
  PartPlacement placement = PartPlacement::kBalanced;
  NumaPlacement numa = NumaPlacement::kNic;
  SumOrder sum_order = SumOrder::kReady;
  Loopback loopback = Loopback::kMemory;
  /// Slices of host memory that parts and buckets leave from or land in begin on pages, if they fill one;
  /// chunks of rings are equal shares of a bucket, and pieces of a part that several machines sum lie in the
  /// part, wherever they begin.
  bool page_aligned = true;
  /// Of parameter servers alone.
  Optimizer optimizer = Optimizer::kNone;
  int update_passes = 0;  // over memory, that an update takes as long as; 0: as many as it makes
  /// Sums come only when asked for: a worker sends a request, through the same queue as its pushes, once its
  /// push of the part is through, as parameter servers do. Without it the owner sends a sum as soon as it is
  /// complete.
  bool pull_requests = false;
  /// Of `ps` alone: no sum leaves before those of all servers are complete, as TensorFlow's
  /// SyncReplicasOptimizer lets nobody read a parameter before all are updated.
  bool update_barrier = false;
  /// A gradient may leave as soon as its layer's backward is done. Without it all gradients leave when the
  /// whole backward is done: as where collectives and the model take turns on the GPUs, or a framework runs
  /// the backward as one operator.
  bool overlap = true;
  /// Layers know nothing of each other: the gradient of each comes when it comes, is summed in memory of its
  /// own, and is read when its sum is there, any number of times more often than another's. What applications
  /// hand over tensor by tensor needs that (run/node.h, Rounds::kApart); of unified, ps and colocated-ps
  /// alone. No file sets it, and `overlap`, `barrier` and `update_barrier` mean nothing with it.
  bool independent_layers = false;
  /// The next forward waits for all parameters, not only for those of its layer.
  bool barrier = false;
  /// The fraction of a NIC's rate that the messages of all-reduces reach: NCCL moves 63 Gbps over NICs that
  /// give 90, which is 0.7. Of every strategy whose sums pass from machine to machine.
  double allreduce_efficiency = 1.0;
  /// What each part or bucket takes on each machine before it may start, one after the other (theta of
  /// ByteScheduler, section 4.1): negotiation, calls, locks.
  Duration part_overhead;
  Collective collective = Collective::kFlatRing;
  /// PyTorch's bucket_cap_mb: a bucket of `ddp` is full when it has this much.
  Bytes bucket_size = Bytes(std::int64_t{25} << 20);
  /// Horovod's fusion buffer and its cycle.
  Bytes fusion_buffer = Bytes(std::int64_t{64} << 20);
  Duration cycle_time = Duration(5'000'000);
};

/// Those that an update takes as long as.
constexpr int memory_passes(const Options& options) {
  const int own = memory_passes(options.optimizer);
  return own > 0 && options.update_passes > 0 ? options.update_passes : own;
}

}  // namespace weir
