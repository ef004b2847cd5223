// The options of strategies that a user may choose. All defaults are here and nowhere else.
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
  kAuto,           // what suits the machine's topology (local_choice.h)
  kReduceScatter,  // reduce-scatter over the GPUs; each copies its share; back: copies, then all-gather
  kReduce,  // reduce to one GPU away from the NICs, which copies the sum; back: its copy, then broadcast
  kReduceInTurn,  // the same, but part by part to a different GPU of those that are as far from the NICs
  kCpuAssisted,   // reduce-scatter under each PCIe switch; the CPU adds up the sums of the switches
  kGpuDirect,     // reduce to a GPU under the NIC's switch, whose memory the NIC reads and writes itself
  kApart,         // nothing: each GPU's gradient leaves separately, and each GPU gets its own sum
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

/// The all-reduce used by frameworks that fuse or cut tensors themselves.
enum class Collective {
  kFlatRing,      // NCCL's ring over all GPUs
  kHierarchical,  // reduce-scatter in each machine, a ring among machines per GPU, all-gather
  kNccl,          // NCCL's own all-reduce, which simulated worlds model as its ring
};

constexpr auto enum_names(Collective /*collective*/) {
  return std::array<Named<Collective>, 3>{{{Collective::kFlatRing, "flat_ring"},
                                           {Collective::kHierarchical, "hierarchical"},
                                           {Collective::kNccl, "nccl"}}};
}

/// How parts are assigned to the machines that sum them.
enum class PartPlacement {
  kBalanced,  // as close to the shares as whole elements allow (placement.h)
  kHash,      // by BytePS's hash of tensor and part, regardless of sizes (hashed_placement.h)
  kInTurn,    // whole tensors, to the machines in turn, as in TensorFlow
};

constexpr auto enum_names(PartPlacement /*placement*/) {
  return std::array<Named<PartPlacement>, 3>{{{PartPlacement::kBalanced, "balanced"},
                                              {PartPlacement::kHash, "hash"},
                                              {PartPlacement::kInTurn, "in_turn"}}};
}

/// The NUMA node for the bytes that go through a NIC: staging, landing and accumulating memory. The cores of
/// that node sum them.
enum class NumaPlacement {
  kNic,     // the NIC's own node
  kFar,     // the next node, if there is one
  kSpread,  // all nodes in turn
};

constexpr auto enum_names(NumaPlacement /*placement*/) {
  return std::array<Named<NumaPlacement>, 3>{
      {{NumaPlacement::kNic, "nic"}, {NumaPlacement::kFar, "far"}, {NumaPlacement::kSpread, "spread"}}};
}

/// For the part of its own gradient that a GPU machine sums itself: how it gets to the sum, and the sum back.
enum class Loopback {
  kMemory,  // through memory: it already lies where it is summed
  kNic,     // as messages of the machine to itself, out of its NIC and back in; only in simulated worlds
};

constexpr auto enum_names(Loopback /*loopback*/) {
  return std::array<Named<Loopback>, 2>{{{Loopback::kMemory, "memory"}, {Loopback::kNic, "nic"}}};
}

/// The order in which values of several machines, or of a machine's switches, are added up.
enum class SumOrder {
  kReady,  // as they arrive: the last bits of floating-point sums differ from run to run
  kPlan,   // in the plan's order: every run gives the same bits
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

/// How often an optimizer's step passes over memory for each parameter. It reads the gradient; it reads and
/// writes the parameter and its state, if any.
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

/// The least Options::allreduce_efficiency.
constexpr double kLeastEfficiency = 0.01;

struct Options {
  /// The largest part of a tensor that parameter servers, trees and the unified strategy send as one message.
  Bytes partition_size = Bytes(4'000'000);
  /// Parts of partition_size may leave NICs idle for a noticeable part of the iteration: until the first sums
  /// are complete, and after the last pushes are. Then parts are cut finer, but not below this size (trees: a
  /// 32nd of it, see tree.h). If it equals partition_size, parts are never cut finer.
  Bytes finest_part = Bytes(131'072);
  /// The largest bucket of neighbouring tensors that an all-reduce works on at once (strategies_cut_by()).
  Bytes fusion_size = Bytes(32'000'000);
  /// The send window of a NIC, in units of partition_size; none is unlimited. (The credit of BytePS.)
  std::optional<int> credit = 4;
  Policy policy = Policy::kPriority;
  LocalStage local = LocalStage::kAuto;
  /// The fraction of the bytes for which, in kCpuAssisted, every GPU copies its unreduced gradient to host
  /// memory.
  double brute_force = 0.0;
  /// The unified strategy's CPU machines sum this many times their optimal share (at most the whole model),
  /// and the GPU machines sum the rest. Use it to check that the optimal split is optimal.
  double cpu_share_factor = 1.0;
  PartPlacement placement = PartPlacement::kBalanced;
  NumaPlacement numa = NumaPlacement::kNic;
  SumOrder sum_order = SumOrder::kReady;
  Loopback loopback = Loopback::kMemory;
  /// Slices of host memory that parts and buckets leave from or land in begin on pages, if they fill one.
  /// This does not hold for chunks of rings, which are equal shares of a bucket, nor for pieces of a part
  /// that several machines sum: these lie wherever the bucket or the part puts them.
  bool page_aligned = true;
  /// For parameter servers only.
  Optimizer optimizer = Optimizer::kNone;
  int update_passes = 0;  // an update takes as long as so many passes over memory; 0: as it really makes
  /// Sums are sent only on request, as parameter servers do. A worker sends a request once its push of the
  /// part is through, in the same queue as its pushes. Without this option the owner sends a sum as soon as
  /// it is complete.
  bool pull_requests = false;
  /// For parameter servers on CPU machines only: no sum leaves before the sums of all servers are complete.
  /// TensorFlow's SyncReplicasOptimizer does this: nobody may read a parameter before all are updated.
  bool update_barrier = false;
  /// A gradient may leave as soon as its layer's backward is done. Without this option all gradients leave
  /// when the whole backward is done. That happens if collectives and the model take turns on the GPUs, or if
  /// a framework runs the backward as one operator.
  bool overlap = true;
  /// Layers are independent: the gradient of each arrives at any time, is summed in its own memory, and is
  /// read when its sum is complete. One layer may repeat this more often than another. Applications that hand
  /// over tensors one by one need this (run/node.h, Rounds::kApart). Strategies without a `cannot_train`
  /// support it (strategy.h). No file sets it; it makes `overlap`, `barrier` and `update_barrier`
  /// meaningless.
  bool independent_layers = false;
  /// The next forward waits for all parameters, not only for those of its layer.
  bool barrier = false;
  /// The fraction of a NIC's rate that the messages of all-reduces achieve. Example: NCCL moves 63 Gbps over
  /// NICs that give 90, which is 0.7. For every strategy in which sums pass from machine to machine.
  double allreduce_efficiency = 1.0;
  /// The time that each part or bucket takes on each machine before it may start, one after the other:
  /// negotiation, calls, locks (theta of ByteScheduler, section 4.1).
  Duration part_overhead;
  Collective collective = Collective::kFlatRing;
  /// PyTorch's bucket_cap_mb: a bucket of `ddp` is full when it has this many bytes.
  Bytes bucket_size = Bytes(std::int64_t{25} << 20);
  /// Horovod's fusion buffer and its cycle.
  Bytes fusion_buffer = Bytes(std::int64_t{64} << 20);
  Duration cycle_time = Duration(5'000'000);
};

/// The most bytes that a NIC may have under way; none is unlimited.
constexpr std::optional<Bytes> send_window(const Options& options) {
  if (!options.credit) return std::nullopt;
  return options.partition_size * *options.credit;
}

/// The number of passes over memory that determines how long an update takes.
constexpr int memory_passes(const Options& options) {
  const int own = memory_passes(options.optimizer);
  return own > 0 && options.update_passes > 0 ? options.update_passes : own;
}

}  // namespace weir
