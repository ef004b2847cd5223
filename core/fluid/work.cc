#include "core/fluid/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "core/fluid/connections.h"

namespace weir {
namespace {

// The place of a slice as a number, for keys of routes: of a NUMA node, or below 0 of GPUs.
int code(const Buffer& buffer, const Slice& slice) {
  if (buffer.place == Memory::Kind::kHost) return buffer.numa;
  return -1 - (static_cast<int>(slice.on.kind) << 16 | slice.on.index);
}

int number(MachineId machine) { return static_cast<int>(machine.value()); }

Memory memory(const Buffer& buffer, int replica) {
  return buffer.place == Memory::Kind::kHost ? Memory::host(buffer.numa) : Memory::gpu(replica);
}

// Shares of a sharded slice move side by side: the flow's size is one share.
Bytes flow_size(const Slice& slice, int shares) { return Bytes((slice.size.count() + shares - 1) / shares); }

int shares_of(const Op& op, const Plan& plan) {
  for (const Slice* slice : {&op.from, &op.into}) {
    if (slice->buffer.valid() && slice->on.kind == Replicas::Kind::kShards)
      return static_cast<int>(plan.group(slice->on.group()).size());
  }
  return 1;
}

// Collectives that leave or spread shares, and copies. What is reduced to a root, and its copy, pass as many
// bytes over a link.
bool moves_shares(OpKind kind) {
  return kind == OpKind::kCopy || kind == OpKind::kReduceScatter || kind == OpKind::kAllGather;
}

// The GPU of the slice's share i, or the first GPU of a slice that lies on several.
int gpu_of(const Plan& plan, const Slice& slice, int share) {
  return slice.on.single() ? slice.on.index : plan.group(slice.on.group())[static_cast<std::size_t>(share)];
}

}  // namespace

WorkTable::WorkTable(const Plan& plan, const Cluster& cluster, Collectives collectives)
    : plan_(&plan), cluster_(&cluster), collectives_(collectives), known_(std::make_unique<Known>()) {
  work_.resize(plan.ops().size());
  for (const Op& op : plan.ops()) add(op);
  connect();
  known_.reset();
}

// Gives every channel its connections, and on each machine what moves bytes between its memories.
void WorkTable::connect() {
  std::vector<std::int64_t> sent(channels_);
  std::vector<std::int64_t> moved(resources_.size());
  for (const Op& op : plan_->ops()) {
    const Work& work = of(op.id);
    if (op.kind == OpKind::kSend) sent[work.channel] += op.from.size.count();
    if (moves_shares(op.kind) && work.path != Work::kNoPath) moved[work.resource] += work.size.count();
  }
  const std::vector<int> of_channel = in_proportion(sent, kMostConnections);
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
  for (const Op& op : plan_->ops()) {
    Work& work = work_[op.id.index()];
    if (op.kind == OpKind::kSend) widen(work, of_channel[work.channel]);
    if (moves_shares(op.kind)) widen(work, of_resource[work.resource]);
  }
}

// A flow over c connections loads its links c times as fast as a flow over one, for a c-th of the time: its
// links' weights and its size say so.
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

WorkTable::Routed WorkTable::routed(const std::vector<Route>& routes) {
  std::map<LinkId, int> weights;
  Routed result;
  for (const Route& route : routes) {
    for (const LinkId link : route.links) ++weights[link];
    result.latency = std::max(result.latency, route.latency);
  }
  if (!weights.empty()) {
    Path uses;
    for (const auto& [link, weight] : weights) uses.push_back({link, weight});
    result.path = path(uses);
    if (collectives_ == Collectives::kPerGpu) result.strands = add_strands(routes);
  }
  return result;
}

// A flow for each route, where there are several.
int WorkTable::add_strands(const std::vector<Route>& routes) {
  std::vector<int> strands;
  for (const Route& route : routes) {
    Path uses;
    for (const LinkId link : std::set(route.links.begin(), route.links.end())) uses.push_back({link, 1});
    if (!uses.empty()) strands.push_back(path(uses));
  }
  if (strands.size() < 2) return Work::kOneFlow;
  strands_.push_back(std::move(strands));
  return static_cast<int>(strands_.size()) - 1;
}

std::span<const int> WorkTable::strands(const Work& work) const {
  if (work.strands == Work::kOneFlow) return {&work.path, 1};
  return strands_[static_cast<std::size_t>(work.strands)];
}

void WorkTable::take(Work& work, const Routed& routed) {
  work.path = routed.path;
  work.strands = routed.strands;
  work.latency = routed.latency;
}

template <class MakeRoutes>
void WorkTable::route(const RouteKey& key, Work& work, const MakeRoutes& make) {
  const auto [known, fresh] = known_->routes.try_emplace(key);
  if (fresh) known->second = routed(make());
  take(work, known->second);
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
    case OpKind::kUpdate:
      return route_sum(op, work);
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

// A sum reads both operands and writes one. The cores of a NUMA node are a link of their own, next to the
// bus: so sums share the memory's rate with copies and messages, and never are faster than the cores. An
// update passes the memory as a sum of f32 would that has as many bytes to read and write.
void WorkTable::route_sum(const Op& op, Work& work) {
  const Buffer& into = plan_->buffer(op.into.buffer);
  work.size = flow_size(op.into, shares_of(op, *plan_));
  if (into.place == Memory::Kind::kGpu) {
    const int gpu = gpu_of(*plan_, op.into, 0);
    work.resource = resource({op.machine, Resource::Kind::kGpuSum, gpu});
    work.hold = work.size / cluster_->machine(op.machine).gpus[static_cast<std::size_t>(gpu)].sum_rate;
    return;
  }
  const bool sum = op.kind == OpKind::kSum;
  if (!sum) {
    const std::int64_t bytes = work.size.count() / size(op.dtype).count() * size(Dtype::kF32).count();
    work.size = Bytes((bytes * op.passes + kPassesOfSum - 1) / kPassesOfSum);
  }
  const Dtype dtype = sum ? op.dtype : Dtype::kF32;
  const int from = sum ? plan_->buffer(op.from.buffer).numa : into.numa;
  work.resource = resource({op.machine, Resource::Kind::kHostSum, into.numa});
  const RouteKey key = {5, number(op.machine), from, into.numa, static_cast<int>(dtype), 0, 0};
  route(key, work, [&] {
    const Numa& numa = cluster_->machine(op.machine).numas[static_cast<std::size_t>(into.numa)];
    // What is summed crosses the way between the memories, with a pass over each; a third one writes.
    Route all = cluster_->route(op.machine, Memory::host(from), Memory::host(into.numa));
    for (const LinkId link : {numa.bus, numa.sum_link(dtype)}) {
      if (link.valid()) all.links.push_back(link);
    }
    return std::vector<Route>{all};
  });
}

void WorkTable::route_copy(const Op& op, Work& work) {
  const Buffer& from = plan_->buffer(op.from.buffer);
  const Buffer& into = plan_->buffer(op.into.buffer);
  const bool from_gpu = from.place == Memory::Kind::kGpu;
  const bool into_gpu = into.place == Memory::Kind::kGpu;
  const int shares = shares_of(op, *plan_);
  work.size = flow_size(op.from, shares);
  if (from_gpu == into_gpu) {
    work.resource =
        resource({op.machine, Resource::Kind::kCopyWithin, from_gpu ? op.from.on.index : -1 - from.numa});
  } else {
    const auto gpus = static_cast<int>(cluster_->machine(op.machine).gpus.size());
    work.resource = resource({op.machine, from_gpu ? Resource::Kind::kCopyOut : Resource::Kind::kCopyIn,
                              gpu_of(*plan_, from_gpu ? op.from : op.into, 0) + (shares > 1 ? gpus : 0)});
  }
  const RouteKey key = {0, number(op.machine), 0, 0, code(from, op.from), 0, code(into, op.into)};
  route(key, work, [&] {
    std::vector<Route> routes;
    for (int i = 0; i < shares; ++i) {
      const auto place = [&](const Buffer& buffer, const Slice& slice) {
        return memory(buffer, gpu_of(*plan_, slice, i));
      };
      routes.push_back(cluster_->route(op.machine, place(from, op.from), place(into, op.into)));
    }
    return routes;
  });
}

// A ring over the GPUs in their order. Reduce-scatter and all-gather pass (g-1)/g of the bytes over every hop
// of the closed ring; reduce and broadcast pass all bytes over the chain that ends or begins at the root.
void WorkTable::route_collective(const Op& op, Work& work) {
  const std::span<const int> group = plan_->group(op.into.on.group());
  const auto gpus = static_cast<int>(group.size());
  const bool out = op.kind == OpKind::kReduceScatter || op.kind == OpKind::kReduce;
  const bool ring = op.kind == OpKind::kReduceScatter || op.kind == OpKind::kAllGather;
  work.resource =
      resource({op.machine, out ? Resource::Kind::kCollectiveOut : Resource::Kind::kCollectiveIn, group[0]});
  if (gpus == 1) return;
  work.size = ring ? flow_size(op.into, gpus) * (gpus - 1) : op.into.size;
  const RouteKey key = {ring ? 1 : out ? 2 : 3, number(op.machine), op.root, op.into.on.index, 0, 0, 0};
  route(key, work, [&] {
    std::vector<Route> hops;
    const auto root = static_cast<int>(std::find(group.begin(), group.end(), op.root) - group.begin());
    const auto gpu = [&](int i) { return Memory::gpu(group[static_cast<std::size_t>(i % gpus)]); };
    for (int i = 0; i < (ring ? gpus : gpus - 1); ++i) {
      // A reduction walks towards the root, a broadcast away from it.
      const int first = ring ? i : out ? root + 1 + i : root + i;
      hops.push_back(cluster_->route(op.machine, gpu(first), gpu(first + 1)));
    }
    return hops;
  });
}

// As NCCL's ring: through the GPUs of a machine and on to the next, 2(N-1)/N of the bytes over every hop with
// N GPUs in all; a ring for each NIC, with its part of the bytes. The op's flow is what leaves its machine's
// GPUs; latency counts once for each machine on both ways round.
void WorkTable::route_all_reduce(const Op& op, Work& work) {
  const std::span<const OpId> members = plan_->all_reduce(op.all_reduce);
  const auto gpus = [&](const Op& member) { return plan_->group(member.into.on.group()); };
  std::size_t ranks = 0;
  std::size_t rings = cluster_->machine(op.machine).nics.size();
  for (const OpId id : members) {
    ranks += gpus(plan_->op(id)).size();
    rings = std::min(rings, cluster_->machine(plan_->op(id).machine).nics.size());
  }
  rings = std::max<std::size_t>(rings, 1);
  work.resource = resource({op.machine, Resource::Kind::kAllReduce, 0});
  if (ranks == 1) return;
  const auto place = static_cast<std::size_t>(std::ranges::find(members, op.id) - members.begin());
  const Op& next = plan_->op(members[(place + 1) % members.size()]);
  work.size =
      flow_size(op.into, static_cast<int>(ranks * rings)) * (2 * (static_cast<std::int64_t>(ranks) - 1));
  const RouteKey key = {6,
                        number(op.machine),
                        number(next.machine),
                        op.into.on.index,
                        next.into.on.index,
                        static_cast<int>(rings),
                        0};
  // By GPUs: where a ring enters a machine, near its NIC; it walks on from there.
  const auto entry = [&](const Op& member, std::size_t ring) {
    const std::span<const int> group = gpus(member);
    const auto near = std::ranges::find_if(
        group, [&](int gpu) { return cluster_->nic_of_gpu(member.machine, gpu) == static_cast<int>(ring); });
    return near != group.end() ? static_cast<std::size_t>(near - group.begin()) : ring % group.size();
  };
  route(key, work, [&] {
    std::vector<Route> hops;
    for (std::size_t ring = 0; ring < rings; ++ring) {
      const std::span<const int> group = gpus(op);
      const auto gpu = [&](std::size_t step) {
        return Memory::gpu(group[(entry(op, ring) + step) % group.size()]);
      };
      const std::size_t last = group.size() - 1;
      for (std::size_t step = 0; step < last; ++step)
        hops.push_back(cluster_->route(op.machine, gpu(step), gpu(step + 1)));
      const Memory first = Memory::gpu(gpus(next)[entry(next, ring)]);
      const auto nic = static_cast<int>(ring);
      hops.push_back(members.size() == 1
                         ? cluster_->route(op.machine, gpu(last), first)
                         : cluster_->route(op.machine, gpu(last), nic, next.machine, first, nic));
    }
    return hops;
  });
  work.latency = work.latency * (2 * std::max<std::int64_t>(1, std::ssize(members) - 1));
}

void WorkTable::add_message(const Op& send, Work& work) {
  const Op& receive = plan_->op(plan_->messages()[send.message.index()].receive);
  const Buffer& from = plan_->buffer(send.from.buffer);
  const Buffer& into = plan_->buffer(receive.into.buffer);
  const int shares = shares_of(send, *plan_);
  work.size = flow_size(send.from, shares);
  work.resource = resource({send.machine, Resource::Kind::kNic, send.nic});
  const int source_machine = number(send.machine);
  const int target_machine = number(receive.machine);
  const ChannelKey channel = {source_machine, send.nic, target_machine, receive.nic};
  const auto [known, fresh] = known_->channels.try_emplace(channel);
  if (fresh) known->second.number = static_cast<std::uint32_t>(channels_++);
  work.channel = known->second.number;
  const RouteKey key = {4,           source_machine,          target_machine, send.nic, code(from, send.from),
                        receive.nic, code(into, receive.into)};
  if (!fresh && known->second.key == key) {
    take(work, known->second.routed);
    return;
  }
  const auto make = [&] {
    std::vector<Route> routes;
    for (int i = 0; i < shares; ++i) {
      const bool sharded = shares > 1;
      const int source_gpu = gpu_of(*plan_, send.from, i);
      const int target_gpu = gpu_of(*plan_, receive.into, i);
      const int out = sharded ? cluster_->nic_of_gpu(send.machine, source_gpu) : send.nic;
      const int in = sharded ? cluster_->nic_of_gpu(receive.machine, target_gpu) : receive.nic;
      const Memory source = memory(from, source_gpu);
      const Memory target = memory(into, target_gpu);
      routes.push_back(cluster_->route(send.machine, source, out, receive.machine, target, in));
    }
    return routes;
  };
  if (!fresh) return route(key, work, make);
  known->second.key = key;
  known->second.routed = routed(make());
  take(work, known->second.routed);
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
      // Rounded down: this is a bound.
      const Wide ns = static_cast<Wide>((work.size * use.weight).count()) * 1'000'000'000 /
                      reached_rate(*plan_, cluster_->link(use.link)).value();
      flow = std::max(flow, Duration(static_cast<std::int64_t>(ns)));
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
