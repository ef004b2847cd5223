#include "core/strategies/halving_doubling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/nics.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/blocks/slots.h"

namespace weir {
namespace {

// How many buckets may be under way at once; each has its own landing memory.
constexpr std::size_t kHalvingBuckets = 4;

// A run of chunks. A bucket is cut into as many chunks as there are machines.
struct Run {
  int first = 0;
  int count = 0;
};

// A step of the first phase. Machines work in groups of `size`, whose members are `apart` positions from each
// other. A machine's piece number 0 is the piece that it ends with; the others follow in a circle. It holds
// `held` pieces and keeps `kept`.
struct Step {
  int size = 2;
  int apart = 1;
  int held = 2;
  int kept = 1;
};

// Who sends what to whom. Machines are identified by position.
class Halving {
 public:
  explicit Halving(int machines) : machines_(machines) {
    int apart = 1;
    while (apart < machines) {
      const int left = machines / apart;
      const int size = left % 2 == 0 ? 2 : left;
      for (int held = size; held > 1; held = (held + 1) / 2)
        steps_.push_back({size, apart, held, (held + 1) / 2});
      apart *= size;
    }
  }

  const std::vector<Step>& steps() const { return steps_; }

  int target(int position, const Step& step) const {
    const int place = position / step.apart % step.size;
    return position + ((place + step.kept) % step.size - place) * step.apart;
  }

  // What the machine sends in the step, in the order of chunks: two runs if the circle closes in between.
  std::vector<Run> sent(int position, const Step& step) const {
    const int piece = machines_ / (step.apart * step.size);  // number of chunks in a piece
    const int place = position / step.apart % step.size;
    const int first = (place + step.kept) % step.size;
    const int count = step.held - step.kept;
    const int whole = std::min(count, step.size - first);
    std::vector<Run> runs;
    const int base = begin(position, step.apart);
    if (whole < count) runs.push_back({base, (count - whole) * piece});
    runs.push_back({base + first * piece, whole * piece});
    return runs;
  }

 private:
  // The first chunk that the machine holds when group members are this far apart.
  int begin(int position, int apart) const {
    int chunk = 0;
    for (const Step& step : steps_) {
      if (step.apart >= apart) break;
      if (step.held != step.size) continue;  // groups are the same as in the step before
      chunk += position / step.apart % step.size * (machines_ / (step.apart * step.size));
    }
    return chunk;
  }

  int machines_;
  std::vector<Step> steps_;
};

class HalvingBuilder {
 public:
  HalvingBuilder(const Cluster& cluster, const Workload& workload, const Options& options,
                 const LocalStageOf& stages, const Buckets& buckets)
      : plan_(buckets.strategy, cluster.machines().size()),
        local_(cluster, workload, options, stages, plan_),
        nics_(cluster),
        buckets_(buckets.parts()),
        landing_count_(options.independent_layers ? std::max<std::size_t>(1, buckets_.size())
                                                  : kHalvingBuckets),
        machines_(cluster.gpu_machines()),
        count_(static_cast<int>(machines_.size())),
        halving_(count_),
        arriving_(machines_.size()),
        order_(service_order(workload, buckets_, options, all_reduce_time(cluster, workload, options))) {
    plan_.set_message_efficiency(options.allreduce_efficiency);
    for (const Step& step : halving_.steps()) {
      for (int i = 0; i < count_; ++i) {
        for (const Run& run : halving_.sent(i, step)) arriving_[at(halving_.target(i, step))].push_back(run);
      }
    }
  }

  Plan build() && {
    for (std::size_t b = 0; b < order_.size(); ++b) exchange(buckets_[order_[b]], b);
    for (const auto& [key, landing] : landings_) landing.close(plan_);
    local_.close();
    return std::move(plan_).build();
  }

 private:
  // One machine in the exchange of one bucket.
  struct Member {
    MachineId machine;
    int nic = 0;
    LocalWay way;
    Bytes begin;               // the bucket's offset
    std::vector<OpId> last;    // by chunk: the op after which the machine's value is there
    std::vector<OpId> sent;    // by chunk: the op that sent it in the first phase
    std::size_t arrived = 0;   // number of messages of the first phase that have arrived
    std::vector<OpId> before;  // messages of the step before, which those of this step wait for
    std::vector<OpId> now;     // messages of this step
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  Part part(const Part& bucket, const Run& run) const {
    Part part = bucket;
    const Range first = share(bucket.range, bucket.dtype, run.first, count_);
    const Range last = share(bucket.range, bucket.dtype, run.first + run.count - 1, count_);
    part.range = {first.offset, last.end() - first.offset};
    return part;
  }

  static Slice slice(const Member& member, const Part& piece) {
    Slice slice = member.way.staging;
    slice.offset += piece.range.offset - member.begin;
    slice.size = piece.range.size;
    return slice;
  }

  // The run's ops, without duplicates.
  static std::vector<OpId> ops_of(const std::vector<OpId>& by_chunk, const Run& run) {
    std::vector<OpId> ops(by_chunk.begin() + run.first, by_chunk.begin() + run.first + run.count);
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
  }

  void order(const std::vector<OpId>& by_chunk, const Run& run, OpId after) {
    for (const OpId before : ops_of(by_chunk, run)) plan_.order(before, after);
  }

  static void set(std::vector<OpId>& by_chunk, const Run& run, OpId op) {
    std::fill_n(by_chunk.begin() + run.first, run.count, op);
  }

  // Where messages of the first phase land on one machine, one slot a message. Bucket b + landing_count_
  // lands where bucket b did.
  Slots& landing(const Member& member, int position, std::size_t b) {
    const int numa = plan_.buffer(member.way.staging.buffer).numa;
    const std::tuple key(position, b % landing_count_, numa);
    const auto known = landings_.find(key);
    if (known != landings_.end()) return known->second;
    const BufferId buffer =
        plan_.add({member.machine, Buffer::Role::kScratch, Memory::Kind::kHost, numa, 1, Bytes(0)});
    Slots slots(plan_, buffer, 0, Bytes(0));
    for (const Run& run : arriving_[at(position)]) {
      Bytes largest;
      for (std::size_t i = b % landing_count_; i < order_.size(); i += landing_count_)
        largest = std::max(largest, part(buckets_[order_[i]], run).range.size);
      slots.add(plan_, buffer, largest);
    }
    return landings_.emplace(key, std::move(slots)).first->second;
  }

  void exchange(const Part& bucket, std::size_t b) {
    std::vector<Member> members;
    for (const MachineId machine : machines_) {
      Member& member = members.emplace_back();
      member.machine = machine;
      member.nic = nics_.take(machine, bucket.range.size);
      member.way = local_.out(machine, bucket, member.nic);
      member.begin = bucket.range.offset;
      member.last.assign(at(count_), member.way.ready);
      member.sent.resize(at(count_));
    }
    const std::vector<Step>& steps = halving_.steps();
    for (const Step& step : steps) {
      for (int i = 0; i < count_; ++i) {
        const int to = halving_.target(i, step);
        for (const Run& run : halving_.sent(i, step))
          reduce(members[at(i)], members[at(to)], part(bucket, run), run, landing(members[at(to)], to, b));
      }
      end_step(members);
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      for (int i = 0; i < count_; ++i) {
        for (const Run& run : halving_.sent(i, *step))
          spread(members[at(halving_.target(i, *step))], members[at(i)], part(bucket, run), run);
      }
      end_step(members);
    }
    for (const Member& member : members) local_.in(member.way, bucket, ops_of(member.last, {0, count_}));
  }

  // A machine's steps do not overlap: each step fills the NICs, and messages of two steps would share them
  // unequally.
  static void end_step(std::vector<Member>& members) {
    for (Member& member : members) member.before = std::exchange(member.now, {});
  }

  Message send(Member& source, Member& target, const Part& piece, const Slice& into) {
    const Message message = add_message(plan_, piece, {source.machine, source.nic, slice(source, piece)},
                                        {target.machine, target.nic, into});
    for (const OpId op : source.before) plan_.order(op, message.send);
    source.now.push_back(message.send);
    target.now.push_back(message.receive);
    return message;
  }

  // The source sends its sums of these chunks to the target, which adds them to its own.
  void reduce(Member& source, Member& target, const Part& piece, const Run& run, Slots& slots) {
    const std::size_t slot = target.arrived++;
    if (piece.range.size == Bytes(0)) return;  // fewer elements than machines
    const Slice landed = slots.slice(slot, piece.range.size);
    const Message message = send(source, target, piece, landed);
    const OpId sum = add_sum(plan_, piece, target.machine, landed, slice(target, piece));
    order(source.last, run, message.send);
    order(target.last, run, sum);
    slots.use(plan_, slot, message.receive, sum);
    set(source.sent, run, message.send);
    set(target.last, run, sum);
  }

  // The source has the complete sums of these chunks and sends them to the target, which needs them.
  void spread(Member& source, Member& target, const Part& piece, const Run& run) {
    if (piece.range.size == Bytes(0)) return;
    const Message message = send(source, target, piece, slice(target, piece));
    order(source.last, run, message.send);
    order(target.sent, run, message.receive);
    set(target.last, run, message.receive);
    // The next iteration must not overwrite bytes that are still being sent on.
    plan_.carry(message.send, source.way.begun);
  }

  PlanBuilder plan_;
  LocalStages local_;
  NicTurns nics_;
  std::vector<Part> buckets_;
  std::size_t landing_count_;
  const std::vector<MachineId>& machines_;
  int count_;
  Halving halving_;
  std::vector<std::vector<Run>> arriving_;  // by position: messages of the first phase, in order
  std::vector<std::size_t> order_;          // the order in which buckets are expected to be served
  // By position, place of the bucket, NUMA node.
  std::map<std::tuple<int, std::size_t, int>, Slots> landings_;
};

// Moves the borders between buckets of one layer so that all but the last have a multiple of `machines`
// elements. If chunks of a bucket differ by an element, some machines are done with a step before others.
// They drift apart from bucket to bucket, and NICs idle.
void even(std::vector<Bucket>& buckets, int machines) {
  for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
    Part& part = buckets[i].part;
    Part& next = buckets[i + 1].part;
    const bool cut = part.range.end() == next.range.offset && part.dtype == next.dtype &&
                     part.first_layer == next.last_layer;
    const Bytes extra(part.range.size.count() % (size(part.dtype).count() * machines));
    if (!cut || extra == part.range.size) continue;
    part.range.size -= extra;
    next.range.offset -= extra;
    next.range.size += extra;
  }
}

// Steps of several buckets keep the NICs busy together. A message of half a bucket that leaves no room for
// others in a NIC's send window makes them wait for each other instead, so a bucket is at most a quarter of
// the window.
Options in_window(Options options) {
  constexpr std::int64_t kBucketsPerWindow = 4;
  if (const auto window = send_window(options))
    options.fusion_size = std::min(options.fusion_size, std::max(Bytes(1), *window / kBucketsPerWindow));
  return options;
}

Result<Plan> halving_doubling(const Cluster& cluster, const Workload& workload, const Options& options) {
  const auto local = conventional_local(cluster, most_common_dtype(workload.trace()), options);
  if (!local) return failure(local.error().text);
  Buckets buckets =
      fused_buckets(std::string(halving_doubling_strategy().name), workload, in_window(options));
  even(buckets.buckets, static_cast<int>(gpu_machine_count(cluster)));
  return HalvingBuilder(cluster, workload, options, local->stages, buckets).build();
}

// For each bucket, a machine sends and receives two runs a step (one if the pieces are neighbours), and sums
// what it receives. It may also reduce, copy and spread the bucket.
double halving_doubling_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  constexpr double kOpsPerBucket = 4;
  const double machines = gpu_machine_count(cluster);
  const double steps = machines > 1 ? std::ceil(std::log2(machines)) : 0;
  return machines * (kOpsPerBucket + kOpsPerChunk * steps) * fused_pieces(workload, in_window(options));
}

}  // namespace

Strategy halving_doubling_strategy() {
  return {.name = "halving-doubling",
          .summary = "all-reduce by recursive halving and doubling among GPU machines, summed in host memory",
          .look = {"#000000", "H", "1 1"},
          .make = halving_doubling,
          .ops = halving_doubling_ops,
          .grain = {"fusion_size"},
          .tuned = {"fusion_size", "credit"},
          .local = conventional_local};
}

}  // namespace weir
