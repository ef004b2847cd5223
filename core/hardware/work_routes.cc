// Which links each kind of op loads: the other half of WorkTable.
#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "core/hardware/work.h"

namespace weir {
namespace {

// The place of a slice as a number, for keys of routes: a NUMA node, or a negative number for GPUs.
int code(const Buffer& buffer, const Slice& slice) {
  if (buffer.place == Memory::Kind::kHost) return buffer.numa;
  return -1 - (static_cast<int>(slice.on.kind) << 16 | slice.on.index);
}

int number(MachineId machine) { return static_cast<int>(machine.value()); }

Memory memory(const Buffer& buffer, int replica) {
  return buffer.place == Memory::Kind::kHost ? Memory::host(buffer.numa) : Memory::gpu(replica);
}

// The shares of a sharded slice move in parallel, so the flow's size is one share.
Bytes flow_size(const Slice& slice, int shares) { return Bytes((slice.size.count() + shares - 1) / shares); }

int shares_of(const Op& op, const Plan& plan) {
  for (const Slice* slice : {&op.from, &op.into}) {
    if (slice->buffer.valid() && slice->on.kind == Replicas::Kind::kShards)
      return static_cast<int>(plan.group(slice->on.group()).size());
  }
  return 1;
}

// The GPU of share i, or of the first replica, of a slice on several GPUs; of a slice on one GPU, that GPU.
int gpu_of(const Plan& plan, const Slice& slice, int share) {
  return slice.on.single() ? slice.on.index : plan.group(slice.on.group())[static_cast<std::size_t>(share)];
}

}  // namespace

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

// Adds a flow for each route, if there are several.
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

void WorkTable::route_sum(const Op& op, Work& work) {
  work.size = flow_size(op.into, shares_of(op, *plan_));
  if (plan_->buffer(op.into.buffer).place == Memory::Kind::kGpu) {
    const int gpu = gpu_of(*plan_, op.into, 0);
    work.resource = resource({op.machine, Resource::Kind::kGpuSum, gpu});
    work.hold = work.size / cluster_->machine(op.machine).gpus[static_cast<std::size_t>(gpu)].sum_rate;
    return;
  }
  route_on_cores(op, plan_->buffer(op.from.buffer).numa, work);
}

// An update passes over memory like a sum that reads and writes as many bytes.
void WorkTable::route_update(const Op& op, Work& work) {
  const Bytes whole = flow_size(op.into, shares_of(op, *plan_));
  const std::int64_t bytes = whole.count() / size(op.dtype).count() * size(computes_in(op)).count();
  work.size = Bytes((bytes * op.passes + kPassesOfSum - 1) / kPassesOfSum);
  route_on_cores(op, plan_->buffer(op.into.buffer).numa, work);
}

// A sum reads both operands and writes one. The cores of a NUMA node are a link of their own, next to the
// bus. So sums share the memory's rate with copies and messages, and are never faster than the cores.
void WorkTable::route_on_cores(const Op& op, int from, Work& work) {
  const Buffer& into = plan_->buffer(op.into.buffer);
  const Dtype dtype = computes_in(op);
  work.resource = resource({op.machine, Resource::Kind::kHostSum, into.numa});
  const RouteKey key = {5, number(op.machine), from, into.numa, static_cast<int>(dtype), 0, 0};
  route(key, work, [&] {
    const Numa& numa = cluster_->machine(op.machine).numas[static_cast<std::size_t>(into.numa)];
    // The operand crosses the route between the memories, which counts one pass over each; a third pass
    // writes.
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
// of the closed ring. Reduce and broadcast pass all bytes over a chain that ends or begins at the root.
void WorkTable::route_collective(const Op& op, Work& work) {
  const std::span<const int> group = plan_->group(op.into.on.group());
  const auto gpus = static_cast<int>(group.size());
  const bool out = traits(op.kind).adds_up;
  const bool ring = !traits(op.kind).rooted;
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

// Like NCCL's ring, which walks through the GPUs of a machine and on to the next. With N GPUs in all, every
// hop passes 2(N-1)/N of the bytes. Each NIC has a ring with its part of the bytes. The op's flow covers the
// hops from its machine's GPUs. Latency counts once for each machine, on both ways round.
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
  // The position in the group at which a ring enters a machine: a GPU near the ring's NIC. The ring walks on
  // from there.
  const auto entry = [&](const Op& member, std::size_t ring) {
    const std::span<const int> group = gpus(member);
    const bool nics = !cluster_->machine(member.machine).nics.empty();  // a single machine may have none
    const auto near = std::ranges::find_if(group, [&](int gpu) {
      return nics && cluster_->nic_of_gpu(member.machine, gpu) == static_cast<int>(ring);
    });
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

}  // namespace weir
