#include "tests/toy/world.h"

#include <algorithm>
#include <functional>

#include "core/workload/workload.h"
#include "tests/toy/engine.h"

namespace weir::toy {
namespace {

constexpr std::int64_t kUnit = 2;  // bytes of the smallest element

// The number that backward writes: small, and different from all neighbouring numbers.
float gradient(std::size_t machine, int gpu, int iteration, std::int64_t unit) {
  return static_cast<float>((machine * 7 + static_cast<std::size_t>(gpu) * 3 +
                             static_cast<std::size_t>(iteration) * 5 + static_cast<std::size_t>(unit) * 11) %
                            64);
}

std::size_t unit(Bytes offset) { return static_cast<std::size_t>(offset.count() / kUnit); }

}  // namespace

Memories::Memories(const Plan& plan)
    : plan_(&plan), backwards_(plan.ops().size(), 0), forwards_(plan.ops().size(), 0) {
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    // Unwritten memory is not zero, so that a lost message shows.
    buffers_.emplace_back(static_cast<std::size_t>(buffer.replicas), Replica(unit(buffer.size) + 1, -1e6F));
    if (buffer.role != Buffer::Role::kGradient) continue;
    for (int gpu = 0; gpu < buffer.replicas; ++gpu) writers_.emplace_back(buffer.machine.index(), gpu);
  }
}

// The memory of a slice, unit by unit. For a sharded slice, each unit is in the memory of its GPU.
std::vector<float*> Memories::cells(const Slice& slice, Dtype dtype) {
  std::vector<Replica>& replicas = buffers_[slice.buffer.index()];
  std::vector<float*> cells;
  const auto take = [&](std::size_t replica, Range range) {
    for (std::size_t i = unit(range.offset); i < unit(range.end()); ++i)
      cells.push_back(&replicas[replica][i]);
  };
  if (slice.on.single()) {
    take(slice.on.index, {slice.offset, slice.size});
    return cells;
  }
  const std::span<const int> group = plan_->group(slice.on.group());
  const auto count = static_cast<int>(group.size());
  for (int i = 0; i < count; ++i) {
    take(static_cast<std::size_t>(group[static_cast<std::size_t>(i)]),
         share({slice.offset, slice.size}, dtype, i, count));
  }
  return cells;
}

std::vector<float> Memories::read(const Slice& slice, Dtype dtype) {
  std::vector<float> values;
  for (const float* cell : cells(slice, dtype)) values.push_back(*cell);
  return values;
}

void Memories::write(const Slice& slice, Dtype dtype, const std::vector<float>& values) {
  const std::vector<float*> into = cells(slice, dtype);
  WEIR_CHECK(into.size() == values.size(), into.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) *into[i] = values[i];
}

void Memories::backward(const Op& op) {
  const int iteration = backwards_[op.id.index()]++;
  std::vector<Replica>& replicas = buffers_[op.into.buffer.index()];
  for (std::size_t gpu = 0; gpu < replicas.size(); ++gpu) {
    for (std::size_t i = unit(op.into.offset); i < unit(op.into.end()); ++i) {
      replicas[gpu][i] =
          gradient(op.machine.index(), static_cast<int>(gpu), iteration, static_cast<std::int64_t>(i));
    }
  }
}

void Memories::forward(const Op& op) {
  const int iteration = forwards_[op.id.index()]++;
  const std::vector<Replica>& replicas = buffers_[op.from.buffer.index()];
  for (std::size_t gpu = 0; gpu < replicas.size(); ++gpu) {
    for (std::size_t i = unit(op.from.offset); i < unit(op.from.end()); ++i) {
      float expected = 0;
      for (const auto& [machine, writer] : writers_) {
        expected += gradient(machine, writer, iteration, static_cast<std::int64_t>(i));
      }
      ++checked_;
      if (replicas[gpu][i] != expected && wrong_.empty()) {
        wrong_ = fmt::format(
            "forward of layer {} on machine {}, GPU {}, iteration {}: byte {} holds {} instead of {}",
            op.layer, op.machine, gpu, iteration, i * kUnit, replicas[gpu][i], expected);
      }
    }
  }
}

void Memories::collective(const Op& op) {
  std::vector<Replica*> group;
  for (const int gpu : plan_->group(op.into.on.group())) {
    group.push_back(&buffers_[op.into.buffer.index()][static_cast<std::size_t>(gpu)]);
  }
  const std::span<const int> gpus = plan_->group(op.into.on.group());
  const auto count = static_cast<int>(group.size());
  const Range whole = {op.into.offset, op.into.size};
  for (int member = 0; member < count; ++member) {
    const bool rooted = traits(op.kind).rooted;
    if (rooted && gpus[static_cast<std::size_t>(member)] != op.root) continue;
    Replica& holder = *group[static_cast<std::size_t>(member)];
    const Range own = rooted ? whole : share(whole, op.dtype, member, count);
    for (std::size_t i = unit(own.offset); i < unit(own.end()); ++i) {
      float sum = 0;
      for (const Replica* replica : group) sum += (*replica)[i];
      const bool out = traits(op.kind).adds_up;
      const float value = out ? sum : holder[i];
      // Nobody may read what a reduction leaves elsewhere.
      for (Replica* replica : group) (*replica)[i] = out ? -1e6F : value;
      holder[i] = value;
    }
  }
}

std::vector<float> Memories::contribution(const Op& op) const {
  std::vector<float> sum(unit(op.into.size));
  for (const int gpu : plan_->group(op.into.on.group())) {
    const Replica& replica = buffers_[op.into.buffer.index()][static_cast<std::size_t>(gpu)];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += replica[unit(op.into.offset) + i];
  }
  return sum;
}

void Memories::spread(const Op& op, const std::vector<float>& sum) {
  for (const int gpu : plan_->group(op.into.on.group())) {
    Replica& replica = buffers_[op.into.buffer.index()][static_cast<std::size_t>(gpu)];
    std::ranges::copy(sum, replica.begin() + static_cast<std::ptrdiff_t>(unit(op.into.offset)));
  }
}

// Does the work of all ops of the all-reduce when the first of them (by id) completes.
void Memories::all_reduce(const Op& op) {
  const std::span<const OpId> all = plan_->all_reduce(op.all_reduce);
  if (op.id != all.front()) return;
  std::vector<float> sum(unit(op.into.size));
  for (const OpId member : all)
    std::ranges::transform(sum, contribution(plan_->op(member)), sum.begin(), std::plus());
  for (const OpId member : all) spread(plan_->op(member), sum);
}

void Memories::apply(const Op& op) {
  switch (op.kind) {
    case OpKind::kBackward:
      return backward(op);
    case OpKind::kForward:
      return forward(op);
    case OpKind::kSend:
      return move(op, plan_->op(plan_->messages()[op.message.index()].receive).into);
    case OpKind::kSum:
    case OpKind::kCopy:
      return move(op, op.into);
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
      return collective(op);
    case OpKind::kAllReduce:
      return all_reduce(op);
    case OpKind::kUpdate:  // leaves the sum for forward to check
    case OpKind::kWait:
    case OpKind::kHold:
      return;
    case OpKind::kReceive:
    case OpKind::kJoin:
      break;
  }
  WEIR_CHECK(false, op.id);  // nobody completes these alone
}

void Memories::move(const Op& op, const Slice& target) {
  const std::vector<float*> from = cells(op.from, op.dtype);
  const std::vector<float*> into = cells(target, op.dtype);
  WEIR_CHECK(from.size() == into.size(), op.id);
  for (std::size_t i = 0; i < from.size(); ++i)
    *into[i] = adds_into(op.kind) ? *into[i] + *from[i] : *from[i];
}

Result<ToyRun> run(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  ToyEngine engine(plan, cluster);
  Memories memories(plan);
  Result<Record> record =
      simulate(plan, cluster, settings, engine, [&](const Op& op) { memories.apply(op); });
  if (!record) return tl::unexpected(record.error());
  return ToyRun{std::move(*record), memories.wrong(), memories.checked()};
}

}  // namespace weir::toy
