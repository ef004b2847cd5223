// What an all-reduce works on at once, and when it may begin: what training frameworks decide before they
// call their collectives.
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
  int layer = 0;  // after whose backward its time begins; no layer of the part is ready later
  Duration held;  // from then on until it may start
};

/// The buckets of one strategy, in order of readiness. A value.
struct Buckets {
  std::string strategy;
  std::vector<Bucket> buckets;
  std::size_t landing = 0;  // how many have landing memory at once; 0: as many as the all-reduce likes
  bool windowed = false;    // a bucket starts only when the one `landing` before it is done
  std::vector<Part> parts() const;
};

/// Tensors fused up to fusion_size, each bucket ready with its last gradient. Those of one layer alone, where
/// layers know nothing of each other.
Buckets fused_buckets(std::string strategy, const Workload& workload, const Options& options);

/// PyTorch's DistributedDataParallel (reducer.cpp, after its first iteration): whole tensors in order of
/// readiness; a bucket is closed once it has 1 MiB, the first, or bucket_size, all others. Also where the
/// dtype changes, as buckets are contiguous here.
Buckets ddp_buckets(std::string strategy, const Workload& workload, const Options& options);

/// Horovod (tensor fusion): every cycle_time the tensors that have become ready are agreed on and fused,
/// whole ones up to fusion_buffer together. When tensors are ready follows from the trace, on the slowest
/// machine, as a plan is made before it runs; cycles are counted from the start of backward.
Buckets horovod_buckets(std::string strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options);

/// ByteScheduler on all-reduce: every tensor cut into parts of at most partition_size, `credit` of them at a
/// time, in the order in which a queue with priorities would serve them. Where layers know nothing of each
/// other, nothing but the send window keeps parts back.
Buckets byte_scheduler_buckets(std::string strategy, const Workload& workload, const Options& options);

/// How long the slowest NICs take for what an all-reduce moves at most.
Duration all_reduce_time(const Cluster& cluster, const Workload& workload, const Options& options);

/// Says which op stands for "this bucket may start" on a machine.
class Releases {
 public:
  /// All outlive it. `order` holds the buckets in the order in which they are exchanged.
  Releases(const Buckets& buckets, const std::vector<std::size_t>& order, LocalStages& local,
           PlanBuilder& builder);

  /// The bucket at this place of the order may start. To be asked once for each machine and place.
  OpId release(MachineId machine, std::size_t place);
  /// It is done on the machine with all of these.
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
