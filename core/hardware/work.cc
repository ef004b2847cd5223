#include "core/hardware/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>

#include "core/hardware/connections.h"

namespace weir {
namespace {

// Whether the op is a copy, or a collective that produces or spreads shares. (A reduction to a root and the
// root's copy pass equally many bytes over a link, so they need no proportion.)
bool moves_shares(OpKind kind) {
  switch (kind) {
    case OpKind::kCopy:
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
      return true;
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kSend:
    case OpKind::kReceive:
    case OpKind::kSum:
    case OpKind::kUpdate:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
    case OpKind::kAllReduce:
      return false;
  }
  return false;
}

// A product that fits into 64 bits divides ten times as fast; only the largest do not fit.
Duration rounded_down(Bytes size, BytesPerSecond rate) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(size.count(), std::int64_t{1'000'000'000}, &product))
    return Duration(product / rate.value());
  return Duration(static_cast<std::int64_t>(static_cast<Wide>(size.count()) * 1'000'000'000 / rate.value()));
}

}  // namespace

WorkTable::WorkTable(const Plan& plan, const Cluster& cluster, Collectives collectives)
    : plan_(&plan), cluster_(&cluster), collectives_(collectives) {
  work_.resize(plan.ops().size());
  visit([&](const Op& op) { add(op); });
  connect();
}

WorkTable::WorkTable(const WorkTable& whole, const Plan& plan, OpId first, const std::vector<LinkId>& links)
    : plan_(&plan),
      cluster_(whole.cluster_),
      collectives_(whole.collectives_),
      resources_(whole.resources_),
      channels_(whole.channels_) {
  std::vector<int> known(whole.paths_.size(), Work::kNoPath);
  const auto moved = [&](int path) {
    int& here = known[static_cast<std::size_t>(path)];
    if (here != Work::kNoPath) return here;
    std::map<LinkId, int> weights;
    for (const LinkUse& use : whole.paths_[static_cast<std::size_t>(path)])
      weights[links[use.link.index()]] += use.weight;
    Path uses;
    for (const auto& [link, weight] : weights) uses.push_back({link, weight});
    here = static_cast<int>(paths_.size());
    paths_.add(uses);
    return here;
  };
  for (const Op& op : plan.ops()) {
    Work work = whole.work_[first.index() + op.id.index()];
    if (work.path != Work::kNoPath) {
      const std::span<const int> strands = whole.strands(work);
      const bool one = work.strands == Work::kOneFlow;
      work.path = moved(work.path);
      if (!one) {
        work.strands = static_cast<int>(strands_.size());
        std::ranges::transform(strands, std::back_inserter(strands_.emplace_back()), moved);
      }
    }
    work_.push_back(work);
  }
}

template <class Function>
void WorkTable::visit(const Function& function) {
  for (std::size_t i = 0; i < plan_->machines(); ++i) {
    known_ = std::make_unique<Known>();
    for (const Op& op : plan_->ops(MachineId(i))) function(op);
  }
  known_.reset();
}

// Sets the connections of every channel, and on each machine those of the resources that move bytes between
// its memories.
void WorkTable::connect() {
  std::vector<std::int64_t> sent(channels_);
  std::vector<std::int64_t> moved(resources_.size());
  for (const Op& op : plan_->ops()) {
    const Work& work = of(op.id);
    if (op.kind == OpKind::kSend) sent[work.channel] += op.from.size.count();
    if (moves_shares(op.kind) && work.path != Work::kNoPath) moved[work.resource] += work.size.count();
  }
  const std::vector<int> of_channel =
      plan_->paced() ? in_proportion(sent, kMostConnections) : std::vector<int>(channels_, 1);
  std::map<MachineId, std::vector<std::size_t>> movers;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] > 0) movers[resources_[i].machine].push_back(i);
  }
  std::vector<int> of_resource(resources_.size(), 1);
  for (const auto& [machine, resources] : movers) {
    std::vector<std::int64_t> bytes;
    for (const std::size_t i : resources) bytes.push_back(moved[i]);
    const std::vector<int> connections = in_proportion(bytes, kMostConnections);
    for (std::size_t i = 0; i < resources.size(); ++i) of_resource[resources[i]] = connections[i];
  }
  visit([&](const Op& op) {
    Work& work = work_[op.id.index()];
    if (op.kind == OpKind::kSend) widen(work, of_channel[work.channel]);
    if (moves_shares(op.kind)) widen(work, of_resource[work.resource]);
  });
}

// A flow over c connections loads its links c times as fast as a flow over one, for 1/c of the time. So its
// links get c times the weight, and its size is divided by c.
void WorkTable::widen(Work& work, int connections) {
  work.connections = connections;
  if (connections == 1 || work.path == Work::kNoPath) return;
  work.path = widened(work.path, connections);
  work.size = Bytes((work.size.count() + connections - 1) / connections);
  if (work.strands == Work::kOneFlow) return;
  const auto [at, fresh] = known_->widened_strands.try_emplace(std::array{work.strands, connections}, 0);
  if (fresh) {
    std::vector<int> wide;
    for (const int narrow : strands(work)) wide.push_back(widened(narrow, connections));
    at->second = static_cast<int>(strands_.size());
    strands_.push_back(std::move(wide));
  }
  work.strands = at->second;
}

int WorkTable::widened(int narrow, int connections) {
  const auto [at, fresh] = known_->widened.try_emplace(std::array{narrow, connections}, Work::kNoPath);
  if (fresh) {
    const PathView view = paths_[static_cast<std::size_t>(narrow)];
    Path uses(view.begin(), view.end());
    for (LinkUse& use : uses) use.weight *= connections;
    at->second = path(uses);
  }
  return at->second;
}

std::uint32_t WorkTable::resource(Resource resource) {
  const auto [at, fresh] =
      known_->resources.try_emplace(resource, static_cast<std::uint32_t>(resources_.size()));
  if (fresh) resources_.push_back(resource);
  return at->second;
}

std::span<const int> WorkTable::strands(const Work& work) const {
  if (work.strands == Work::kOneFlow) return {&work.path, 1};
  return strands_[static_cast<std::size_t>(work.strands)];
}

void WorkTable::add(const Op& op) {
  Work& work = work_[op.id.index()];
  const auto serve = [&](Resource::Kind kind, int index) { return resource({op.machine, kind, index}); };
  switch (op.kind) {
    case OpKind::kBackward:
    case OpKind::kForward:
      work.resource = serve(Resource::Kind::kCompute, 0);
      work.hold = op.duration;
      return;
    case OpKind::kWait:
      work.resource = serve(Resource::Kind::kScheduler, 0);
      work.hold = op.duration;
      return;
    case OpKind::kHold:
      work.resource = serve(Resource::Kind::kTimer, 0);
      work.hold = op.duration;
      return;
    case OpKind::kSum:
      return route_sum(op, work);
    case OpKind::kUpdate:
      return route_update(op, work);
    case OpKind::kCopy:
      return route_copy(op, work);
    case OpKind::kSend:
      return add_message(op, work);
    case OpKind::kReceive:
    case OpKind::kJoin:
      return;
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
      return route_collective(op, work);
    case OpKind::kAllReduce:
      return route_all_reduce(op, work);
  }
}

Duration WorkTable::flow_time(int path, Bytes size) const {
  Duration time;
  for (const LinkUse& use : paths_[static_cast<std::size_t>(path)])
    time = std::max(time, size * use.weight / reached_rate(*plan_, cluster_->link(use.link)));
  return time;
}

Duration WorkTable::shortest(OpId op) const {
  const Work& work = of(op);
  Duration flow;
  if (work.path != Work::kNoPath) {
    for (const LinkUse& use : paths_[static_cast<std::size_t>(work.path)]) {
      // Rounded down, because this is a bound.
      flow = std::max(flow,
                      rounded_down(work.size * use.weight, reached_rate(*plan_, cluster_->link(use.link))));
    }
  }
  return work.hold + flow + work.latency;
}

std::vector<double> reached_rates(const Plan& plan, const Cluster& cluster) {
  std::vector<double> rates;
  for (const Link& link : cluster.links())
    rates.push_back(static_cast<double>(reached_rate(plan, link).value()));
  return rates;
}

std::vector<Bytes> link_loads(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  std::vector<Bytes> loads(cluster.links().size());
  for (const Op& op : plan.ops()) {
    const Work& work = works.of(op.id);
    if (work.path == Work::kNoPath) continue;
    for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)]) {
      loads[use.link.index()] += work.size * use.weight;
    }
  }
  return loads;
}

BytesPerSecond reached_rate(const Plan& plan, const Link& link) {
  if (plan.message_efficiency() == 1.0 || link.kind != Link::Kind::kNic || !link.rate.limited())
    return link.rate;
  return BytesPerSecond(std::llround(static_cast<double>(link.rate.value()) * plan.message_efficiency()));
}

}  // namespace weir
