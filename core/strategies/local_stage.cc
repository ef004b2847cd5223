#include "core/strategies/local_stage.h"

#include <algorithm>
#include <set>

#include "core/strategies/nics.h"

namespace weir {

Op op_for(const Part& part, MachineId machine, OpKind kind) {
  Op op;
  op.machine = machine;
  op.kind = kind;
  op.dtype = part.dtype;
  op.priority = part.priority();
  op.layer = part.first_layer;
  return op;
}

Message add_message(PlanBuilder& builder, const Part& part, const End& source, const End& target) {
  Op send = op_for(part, source.machine, OpKind::kSend);
  send.message = builder.add_message();
  send.peer = target.machine;
  send.nic = source.nic;
  send.from = source.slice;
  Op receive = op_for(part, target.machine, OpKind::kReceive);
  receive.message = send.message;
  receive.peer = source.machine;
  receive.nic = target.nic;
  receive.into = target.slice;
  return {builder.add(send), builder.add(receive)};
}

OpId add_sum(PlanBuilder& builder, const Part& part, MachineId machine, const Slice& from,
             const Slice& into) {
  Op sum = op_for(part, machine, OpKind::kSum);
  sum.from = from;
  sum.into = into;
  return builder.add(sum);
}

namespace {

// The GPU whose way to host memory has the fewest links in common with the ways of the NICs: copies of a root
// beside a NIC would share its switch with the network (BytePS, OSDI'20, section 4.2.2).
int root_of(const Cluster& cluster, MachineId machine) {
  if (cluster.machines().size() == 1) return 0;
  const Machine& spec = cluster.machine(machine);
  const MachineId other(machine.index() == 0 ? 1 : 0);
  const Memory there = Memory::host(0);
  std::set<LinkId> used;
  for (std::size_t i = 0; i < spec.nics.size(); ++i) {
    const auto nic = static_cast<int>(i);
    const Memory here = Memory::host(spec.nics[i].numa);
    for (const Route& route : {cluster.route(machine, here, nic, other, there, 0),
                               cluster.route(other, there, 0, machine, here, nic)}) {
      used.insert(route.links.begin(), route.links.end());
    }
  }
  const auto shared = [&](int gpu) {
    std::ptrdiff_t links = 0;
    for (std::size_t numa = 0; numa < spec.numas.size(); ++numa) {
      const Memory host = Memory::host(static_cast<int>(numa));
      for (const Route& route :
           {cluster.route(machine, Memory::gpu(gpu), host), cluster.route(machine, host, Memory::gpu(gpu))}) {
        links += std::count_if(route.links.begin(), route.links.end(),
                               [&](LinkId link) { return used.contains(link); });
      }
    }
    return links;
  };
  int best = 0;
  for (int gpu = 1; gpu < static_cast<int>(spec.gpus.size()); ++gpu) {
    if (shared(gpu) < shared(best)) best = gpu;
  }
  return best;
}

}  // namespace

LocalStages::LocalStages(const Cluster& cluster, const Workload& workload, const Options& options,
                         PlanBuilder& builder)
    : cluster_(&cluster),
      workload_(&workload),
      options_(options),
      builder_(&builder),
      state_(cluster.machines().size()) {
  for (const MachineId machine : cluster.gpu_machines()) add_backward(machine);
}

// The slowest GPU of the machine sets its pace.
Duration LocalStages::on_gpus(MachineId machine, Duration time) const {
  double slowest = cluster_->machine(machine).gpus.front().speed;
  for (const Gpu& gpu : cluster_->machine(machine).gpus) slowest = std::min(slowest, gpu.speed);
  return slowest == 1.0 ? time : Duration::from_seconds(time.seconds() / slowest);
}

void LocalStages::add_backward(MachineId machine) {
  State& state = at(machine);
  const Machine& spec = cluster_->machine(machine);
  state.gradient = builder_->add({machine, Buffer::Role::kGradient, Memory::Kind::kGpu, 0,
                                  static_cast<int>(spec.gpus.size()), workload_->size()});
  state.all_gpus = builder_->all(state.gradient);
  state.staging.resize(spec.numas.size());
  state.root = root_of(*cluster_, machine);
  const auto layers = static_cast<std::size_t>(workload_->layers());
  state.backward.resize(layers);
  state.needs.resize(layers);
  OpId before;
  for (int layer = workload_->layers() - 1; layer >= 0; --layer) {
    const Range range = workload_->range(layer);
    Op op;
    op.machine = machine;
    op.kind = OpKind::kBackward;
    op.layer = layer;
    op.priority = layer_priority(layer);
    op.duration = on_gpus(machine, workload_->layer(layer).backward);
    op.into = {state.gradient, Replicas::each(state.all_gpus), range.offset, range.size};
    const OpId id = builder_->add(op);
    builder_->order(before, id);
    state.backward[static_cast<std::size_t>(layer)] = before = id;
  }
}

Slice LocalStages::staging(MachineId machine, const Part& part, int nic) {
  const int numa = numa_of_nic(*cluster_, machine, nic);
  BufferId& buffer = at(machine).staging[static_cast<std::size_t>(numa)];
  if (!buffer.valid()) {
    buffer = builder_->add({machine, Buffer::Role::kStaging, Memory::Kind::kHost, numa, 1, Bytes(0)});
  }
  return builder_->reserve(buffer, part.range.size, part.dtype);
}

OpId LocalStages::out(MachineId machine, const Part& part, const Slice& staging) {
  const State& state = at(machine);
  const bool several = cluster_->machine(machine).gpus.size() > 1;
  const bool sharded = several && options_.local == LocalStage::kReduceScatter;
  OpId ready = backward(machine, part.first_layer);
  const Slice gradient = {state.gradient, Replicas::each(state.all_gpus), part.range.offset, part.range.size};
  if (several) {
    Op reduce = op_for(part, machine, sharded ? OpKind::kReduceScatter : OpKind::kReduce);
    reduce.into = gradient;
    reduce.root = state.root;
    const OpId id = builder_->add(reduce);
    builder_->order(ready, id);
    ready = id;
  }
  Op copy = op_for(part, machine, OpKind::kCopy);
  copy.from = gradient;
  copy.from.on = sharded ? Replicas::shards(state.all_gpus) : state.root;
  copy.into = staging;
  const OpId id = builder_->add(copy);
  builder_->order(ready, id);
  return id;
}

void LocalStages::in(MachineId machine, const Part& part, const Slice& staging,
                     const std::vector<OpId>& after) {
  const State& state = at(machine);
  const bool several = cluster_->machine(machine).gpus.size() > 1;
  const bool sharded = several && options_.local == LocalStage::kReduceScatter;
  Op copy = op_for(part, machine, OpKind::kCopy);
  copy.from = staging;
  copy.into = {state.gradient, sharded ? Replicas::shards(state.all_gpus) : state.root, part.range.offset,
               part.range.size};
  OpId done = builder_->add(copy);
  for (const OpId op : after) builder_->order(op, done);
  if (several) {
    Op spread = op_for(part, machine, sharded ? OpKind::kAllGather : OpKind::kBroadcast);
    spread.into = copy.into;
    spread.into.on = Replicas::each(state.all_gpus);
    spread.root = state.root;
    const OpId id = builder_->add(spread);
    builder_->order(done, id);
    done = id;
  }
  needed(machine, part, done);
}

void LocalStages::needed(MachineId machine, const Part& part, OpId op) {
  State& state = at(machine);
  // Forwards run in order, so the first of the part's layers stands for all of them.
  state.needs[static_cast<std::size_t>(options_.barrier ? 0 : part.first_layer)].push_back(op);
}

void LocalStages::close() {
  for (const MachineId machine : cluster_->gpu_machines()) {
    State& state = at(machine);
    OpId before = backward(machine, 0);
    for (int layer = 0; layer < workload_->layers(); ++layer) {
      const Range range = workload_->range(layer);
      Op op;
      op.machine = machine;
      op.kind = OpKind::kForward;
      op.layer = layer;
      op.priority = layer_priority(layer);
      op.duration = on_gpus(machine, workload_->layer(layer).forward);
      op.from = {state.gradient, Replicas::each(state.all_gpus), range.offset, range.size};
      const OpId id = builder_->add(op);
      builder_->order(before, id);
      for (const OpId need : state.needs[static_cast<std::size_t>(layer)]) builder_->order(need, id);
      before = id;
    }
    builder_->carry(before, backward(machine, workload_->layers() - 1));
  }
}

}  // namespace weir
