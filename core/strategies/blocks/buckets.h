// The pieces that an all-reduce works on at once, and when each may begin. Training frameworks decide this
// before they call their collectives.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

struct Bucket {
  Part part;
  int layer = 0;  // its time begins after this layer's backward; no layer of the part is ready later
  Duration held;  // the delay from then until it may start
};

/// The buckets of one strategy, in order of readiness. A value.
struct Buckets {
  std::string strategy;
  std::vector<Bucket> buckets;
  std::size_t landing = 0;  // how many buckets have landing memory at once; 0: the all-reduce decides
  bool windowed = false;    // a bucket starts only when the one `landing` places before it is done
  std::vector<Part> parts() const;
};

/// Tensors fused up to fusion_size. Each bucket is ready with its last gradient. For independent layers, a
/// bucket holds tensors of one layer only.
Buckets fused_buckets(std::string strategy, const Workload& workload, const Options& options);

/// PyTorch's DistributedDataParallel (reducer.cpp, after its first iteration): whole tensors in order of
/// readiness. The first bucket is closed once it has 1 MiB, all others once they have bucket_size. A bucket
/// is also closed where the dtype changes, because buckets are contiguous here.
Buckets ddp_buckets(std::string strategy, const Workload& workload, const Options& options);

/// Horovod (tensor fusion): every cycle_time, machines agree on the tensors that have become ready and fuse
/// them, whole tensors up to fusion_buffer together. The times when tensors are ready come from the trace,
/// for the slowest machine, because a plan is made before it runs. Cycles are counted from the start of
/// backward.
Buckets horovod_buckets(std::string strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options);

/// ByteScheduler on all-reduce: every tensor is cut into parts of at most partition_size. `credit` of them
/// are under way at a time, in the order in which a priority queue would serve them. For independent layers,
/// only the send window holds parts back.
Buckets byte_scheduler_buckets(std::string strategy, const Workload& workload, const Options& options);

/// How long the slowest NICs need for the bytes of an all-reduce (at most twice the model).
Duration all_reduce_time(const Cluster& cluster, const Workload& workload, const Options& options);

/// Finds which op means "this bucket may start" on a machine.
class Releases {
 public:
  /// All arguments must outlive it. `order` lists the buckets in the order in which they are exchanged.
  Releases(const Buckets& buckets, const std::vector<std::size_t>& order, LocalStages& local,
           PlanBuilder& builder);

  /// The op after which the bucket at this place of the order may start. Call it once for each machine and
  /// place.
  OpId release(MachineId machine, std::size_t place);
  /// Records that the bucket is done on the machine when all these ops are.
  void done(MachineId machine, std::size_t place, const std::vector<OpId>& ops);

 private:
  const Buckets& buckets_;
  const std::vector<std::size_t>& order_;
  LocalStages& local_;
  PlanBuilder& builder_;
  std::map<std::tuple<MachineId, int, Duration>, OpId> holds_;  // by machine, layer and time
  std::map<std::pair<MachineId, std::size_t>, OpId> done_;      // by machine and place
};

}  // namespace weir
