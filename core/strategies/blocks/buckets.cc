#include "core/strategies/blocks/buckets.h"

#include <algorithm>
#include <iterator>

#include "core/strategies/blocks/nics.h"

namespace weir {
namespace {

constexpr Bytes kFirstBucket(std::int64_t{1} << 20);  // PyTorch's kDefaultFirstBucketBytes

bool adjacent(const Part& part, const Part& next) {
  return part.range.end() == next.range.offset && part.dtype == next.dtype;
}

void extend(Part& part, const Part& next) {
  part.range.size += next.range.size;
  part.first_layer = next.first_layer;
}

Buckets ready_at_once(std::string strategy, const Workload& workload, std::vector<Part> parts) {
  workload.rank(parts);
  Buckets buckets;
  buckets.strategy = std::move(strategy);
  for (const Part& part : parts) buckets.buckets.push_back({part, part.first_layer, {}});
  return buckets;
}

// By layer: when its gradient may leave the slowest machine, if backward starts at 0.
std::vector<Duration> ready_times(const Cluster& cluster, const Workload& workload, const Options& options) {
  double slowest = 1e300;
  for (const MachineId machine : cluster.gpu_machines())
    slowest = std::min(slowest, cluster.machine(machine).speed());
  std::vector<Duration> ready(static_cast<std::size_t>(workload.layers()));
  Duration sum;
  for (int layer = workload.layers() - 1; layer >= 0; --layer) {
    sum += workload.layer(layer).backward;
    ready[static_cast<std::size_t>(layer)] = Duration::from_seconds(sum.seconds() / slowest);
  }
  if (!options.overlap) std::fill(ready.begin(), ready.end(), ready.front());
  return ready;
}

// The end of the cycle in which a tensor becomes ready.
Duration cycle_end(Duration ready, Duration cycle) {
  if (cycle == Duration(0)) return ready;
  return cycle * ((ready.ns() + cycle.ns() - 1) / cycle.ns());
}

}  // namespace

std::vector<Part> Buckets::parts() const {
  std::vector<Part> parts;
  for (const Bucket& bucket : buckets) parts.push_back(bucket.part);
  return parts;
}

Buckets fused_buckets(std::string strategy, const Workload& workload, const Options& options) {
  const Bytes largest = options.fusion_size;
  return ready_at_once(std::move(strategy), workload,
                       options.independent_layers ? workload.partition(largest) : workload.fuse(largest));
}

Buckets ddp_buckets(std::string strategy, const Workload& workload, const Options& options) {
  std::vector<Part> parts;
  bool full = true;
  for (const Workload::Whole& tensor : workload.tensors()) {
    if (!full && adjacent(parts.back(), tensor.part)) {
      extend(parts.back(), tensor.part);
    } else {
      parts.push_back(tensor.part);
    }
    const Bytes limit = parts.size() == 1 ? std::min(kFirstBucket, options.bucket_size) : options.bucket_size;
    full = parts.back().range.size >= limit;
  }
  return ready_at_once(std::move(strategy), workload, std::move(parts));
}

Buckets horovod_buckets(std::string strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options) {
  const std::vector<Duration> ready = ready_times(cluster, workload, options);
  std::vector<Part> parts;
  std::vector<Duration> ends;  // by part: the end of its cycle
  for (const Workload::Whole& tensor : workload.tensors()) {
    const Duration end =
        cycle_end(ready[static_cast<std::size_t>(tensor.part.first_layer)], options.cycle_time);
    const bool fits = !parts.empty() && ends.back() == end && adjacent(parts.back(), tensor.part) &&
                      parts.back().range.size + tensor.part.range.size <= options.fusion_buffer;
    if (fits) {
      extend(parts.back(), tensor.part);
    } else {
      parts.push_back(tensor.part);
      ends.push_back(end);
    }
  }
  Buckets buckets = ready_at_once(std::move(strategy), workload, std::move(parts));
  // All buckets of a cycle start together, after the last of them is ready.
  for (std::size_t i = buckets.buckets.size(); i-- > 0;) {
    Bucket& bucket = buckets.buckets[i];
    const bool last = i + 1 == buckets.buckets.size() || ends[i + 1] != ends[i];
    bucket.layer = last ? bucket.part.first_layer : buckets.buckets[i + 1].layer;
    bucket.held = ends[i] - ready[static_cast<std::size_t>(bucket.layer)];
  }
  return buckets;
}

Buckets byte_scheduler_buckets(std::string strategy, const Workload& workload, const Options& options) {
  std::vector<Part> parts;
  for (const Workload::Whole& tensor : workload.tensors()) {
    const std::vector<Part> pieces = cut(tensor.part, options.partition_size);
    parts.insert(parts.end(), pieces.begin(), pieces.end());
  }
  Buckets buckets = ready_at_once(std::move(strategy), workload, std::move(parts));
  const std::size_t all = std::max<std::size_t>(1, buckets.buckets.size());
  buckets.windowed = options.credit && !options.independent_layers;
  buckets.landing = buckets.windowed ? std::min(all, static_cast<std::size_t>(*options.credit)) : all;
  return buckets;
}

Duration all_reduce_time(const Cluster& cluster, const Workload& workload, const Options& options) {
  const Duration time = time_at_nics(cluster, workload.size() * 2);
  return options.allreduce_efficiency == 1.0
             ? time
             : Duration::from_seconds(time.seconds() / options.allreduce_efficiency);
}

Releases::Releases(const Buckets& buckets, const std::vector<std::size_t>& order, LocalStages& local,
                   PlanBuilder& builder)
    : buckets_(buckets), order_(order), local_(local), builder_(builder) {}

OpId Releases::release(MachineId machine, std::size_t place) {
  const Bucket& bucket = buckets_.buckets[order_[place]];
  OpId ready = local_.released(machine, bucket.layer);
  if (bucket.held > Duration(0)) {
    OpId& hold = holds_[{machine, bucket.layer, bucket.held}];
    if (!hold.valid()) hold = add_delay(builder_, bucket.part, machine, OpKind::kHold, bucket.held, ready);
    ready = hold;
  }
  if (!buckets_.windowed || place < buckets_.landing) return local_.scheduled(machine, bucket.part, ready);
  const OpId before = done_.at({machine, place - buckets_.landing});
  return local_.scheduled(machine, bucket.part, join(builder_, bucket.part, machine, {ready, before}));
}

void Releases::done(MachineId machine, std::size_t place, const std::vector<OpId>& ops) {
  if (!buckets_.windowed) return;
  std::vector<OpId> valid;
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(valid), [](OpId op) { return op.valid(); });
  const Part& part = buckets_.buckets[order_[place]].part;
  done_[{machine, place}] = join(builder_, part, machine, valid);
}

}  // namespace weir
