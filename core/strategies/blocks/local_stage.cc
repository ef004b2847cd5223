#include "core/strategies/blocks/local_stage.h"

#include <algorithm>
#include <map>

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

Message add_message(PlanBuilder& builder, const Part& part, const Endpoint& source, const Endpoint& target) {
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

OpId add_delay(PlanBuilder& builder, const Part& part, MachineId machine, OpKind kind, Duration time,
               OpId after) {
  Op delay = op_for(part, machine, kind);
  delay.duration = time;
  const OpId id = builder.add(delay);
  builder.order(after, id);
  return id;
}

OpId join(PlanBuilder& builder, const Part& part, MachineId machine, const std::vector<OpId>& ops) {
  if (ops.size() == 1) return ops.front();
  const OpId all = builder.add(op_for(part, machine, OpKind::kJoin));
  for (const OpId op : ops) builder.order(op, all);
  return all;
}

LocalStageOf no_local_stages(const Cluster& cluster) {
  return LocalStageOf(cluster.machines().size(), LocalStage::kReduceScatter);
}

LocalStages::LocalStages(const Cluster& cluster, const Workload& workload, const Options& options,
                         const LocalStageOf& stages, PlanBuilder& builder)
    : cluster_(&cluster),
      workload_(&workload),
      options_(options),
      builder_(&builder),
      numas_(cluster, options.numa),
      state_(cluster.machines().size()) {
  if (options.page_aligned) builder.align_to_pages();
  for (const MachineId machine : cluster.gpu_machines()) {
    add_backward(machine);
    const auto nics = std::max<std::size_t>(1, cluster.machine(machine).nics.size());
    for (std::size_t nic = 0; nic < nics; ++nic) {
      std::vector<LocalMix> mix =
          local_mix(cluster, machine, static_cast<int>(nic), stages[machine.index()], options.brute_force);
      std::vector<double> fractions;
      for (const LocalMix& one : mix) fractions.push_back(one.fraction);
      at(machine).schemes.push_back({std::move(mix), Turns(std::move(fractions))});
    }
  }
}

Duration LocalStages::on_gpus(MachineId machine, Duration time) const {
  const double speed = cluster_->machine(machine).speed();
  return speed == 1.0 ? time : Duration::from_seconds(time.seconds() / speed);
}

void LocalStages::add_backward(MachineId machine) {
  State& state = at(machine);
  const Machine& spec = cluster_->machine(machine);
  state.gradient = builder_->add({machine, Buffer::Role::kGradient, Memory::Kind::kGpu, 0,
                                  static_cast<int>(spec.gpus.size()), workload_->size()});
  state.all_gpus = builder_->all(state.gradient);
  state.staging.resize(spec.numas.size());
  state.landing.resize(spec.numas.size());
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
    if (!options_.independent_layers) builder_->order(before, id);
    state.backward[static_cast<std::size_t>(layer)] = before = id;
  }
}

Slice LocalStages::reserve(std::vector<BufferId>& buffers, MachineId machine, int numa, Buffer::Role role,
                           const Part& part) {
  BufferId& buffer = buffers[static_cast<std::size_t>(numa)];
  if (!buffer.valid()) buffer = builder_->add({machine, role, Memory::Kind::kHost, numa, 1, Bytes(0)});
  return builder_->reserve(buffer, part.range.size, part.dtype);
}

// Where each group's sum lands. Usually a group copies its sum to the NUMA node of staging; the first such
// group copies directly into staging. If several groups are nearer to another node, their sums meet there
// first, so that the link between the sockets is crossed only once.
std::vector<Slice> LocalStages::landings(const LocalWay& way, const Part& part) {
  const Machine& machine = cluster_->machine(way.machine);
  const int near = builder_->buffer(way.staging.buffer).numa;
  const auto numa_of = [&](const std::vector<int>& gpus) {
    return machine.gpus[static_cast<std::size_t>(gpus.front())].numa;
  };
  const std::vector<std::vector<int>>& groups = way.scheme->groups;
  std::vector<Slice> landed;
  bool staged = false;
  for (const std::vector<int>& group : groups) {
    const auto neighbours = std::count_if(groups.begin(), groups.end(), [&](const std::vector<int>& other) {
      return numa_of(other) == numa_of(group);
    });
    const int numa = neighbours > 1 ? numa_of(group) : near;
    if (numa == near && !staged) {
      landed.push_back(way.staging);
      staged = true;
    } else {
      landed.push_back(reserve(at(way.machine).landing, way.machine, numa, Buffer::Role::kScratch, part));
    }
  }
  return landed;
}

// The slice of the part on the GPUs that copy it: on each its share, or on the root all of it. If `whole`,
// all of it on each.
Slice LocalStages::held(const LocalWay& way, const Part& part, const std::vector<int>& gpus, bool whole) {
  Slice slice = {at(way.machine).gradient, gpus.front(), part.range.offset, part.range.size};
  if (whole) {
    slice.on = Replicas::each(builder_->group(gpus));
  } else if (!way.scheme->scatter) {
    slice.on = way.scheme->root;
  } else if (gpus.size() > 1) {
    slice.on = Replicas::shards(builder_->group(gpus));
  }
  return slice;
}

// The op after which the group's sum is on the GPUs that copy it.
OpId LocalStages::reduced(const LocalWay& way, const Part& part, const std::vector<int>& gpus) {
  const OpId ready = released(way.machine, part.first_layer);
  if (gpus.size() == 1) return ready;
  Op reduce = op_for(part, way.machine, way.scheme->scatter ? OpKind::kReduceScatter : OpKind::kReduce);
  reduce.into = held(way, part, gpus, true);
  reduce.root = way.scheme->root;
  const OpId id = builder_->add(reduce);
  builder_->order(ready, id);
  return id;
}

OpId LocalStages::copy(const Part& part, MachineId machine, const Slice& from, const Slice& into,
                       OpId after) {
  Op copy = op_for(part, machine, OpKind::kCopy);
  copy.from = from;
  copy.into = into;
  const OpId id = builder_->add(copy);
  builder_->order(after, id);
  return id;
}

LocalWay LocalStages::out(MachineId machine, const Part& part, int nic, bool direct) {
  Schemes& schemes = at(machine).schemes[static_cast<std::size_t>(nic)];
  const LocalMix& mix = schemes.mix[schemes.turns.take(part.range.size)];
  const int numa = numas_.take(machine, nic, part.range.size);
  return out_by(mix.scheme, machine, part, nic, numa, direct);
}

LocalWay LocalStages::out_of_gpu(MachineId machine, int gpu, const Part& part, int nic) {
  const Schemes& schemes = at(machine).schemes[static_cast<std::size_t>(nic)];
  const LocalScheme& scheme = schemes.mix[static_cast<std::size_t>(gpu)].scheme;
  return out_by(scheme, machine, part, nic, numas_.take(machine, nic, part.range.size), false);
}

LocalWay LocalStages::out_by(const LocalScheme& scheme, MachineId machine, const Part& part, int nic,
                             int near, bool direct) {
  State& state = at(machine);
  LocalWay way;
  way.machine = machine;
  way.nic = nic;
  way.scheme = &scheme;
  if (direct && way.scheme->direct) {
    way.staging = held(way, part, way.scheme->groups.front(), false);
    way.ready = scheduled(machine, part, reduced(way, part, way.scheme->groups.front()));
    way.begun = backward(machine, part.last_layer);
    return way;
  }
  way.staging = reserve(state.staging, machine, near, Buffer::Role::kStaging, part);
  way.landed = landings(way, part);

  // By NUMA node, the groups' sums that have arrived. The others are added to the first.
  struct Arrived {
    Slice total;
    OpId first;
    std::vector<OpId> sums;
  };
  std::map<int, Arrived> arrived;
  const auto arrive = [&](int numa, const Slice& slice, OpId op) {
    const auto [known, fresh] = arrived.try_emplace(numa, Arrived{slice, op, {}});
    if (fresh) return;
    const OpId sum = add_sum(*builder_, part, machine, slice, known->second.total);
    builder_->order(op, sum);
    builder_->order(known->second.first, sum);
    known->second.sums.push_back(sum);
  };
  const auto complete = [&](const Arrived& at_numa) {
    return at_numa.sums.empty() ? at_numa.first : join(*builder_, part, machine, at_numa.sums);
  };
  const std::vector<std::vector<int>>& groups = way.scheme->groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const OpId ready = reduced(way, part, groups[i]);
    const Slice& landed = way.landed[i];
    arrive(builder_->buffer(landed.buffer).numa, landed,
           copy(part, machine, held(way, part, groups[i], false), landed, ready));
  }
  for (const auto& [numa, far] : std::map(arrived)) {
    if (numa == near) continue;
    const bool first = !arrived.contains(near);
    const Slice landed =
        first ? way.staging : reserve(state.landing, machine, near, Buffer::Role::kScratch, part);
    arrive(near, landed, copy(part, machine, far.total, landed, complete(far)));
  }
  way.begun = arrived.at(near).first;
  way.ready = scheduled(machine, part, complete(arrived.at(near)));
  return way;
}

void LocalStages::in(const LocalWay& way, const Part& part, const std::vector<OpId>& after) {
  const std::vector<std::vector<int>>& groups = way.scheme->groups;
  const auto spread = [&](const std::vector<int>& gpus, const std::vector<OpId>& ready) {
    if (gpus.size() == 1) {
      for (const OpId op : ready) needed(way.machine, part, op);
      return;
    }
    Op op = op_for(part, way.machine, way.scheme->scatter ? OpKind::kAllGather : OpKind::kBroadcast);
    op.into = held(way, part, gpus, true);
    op.root = way.scheme->root;
    const OpId id = builder_->add(op);
    for (const OpId before : ready) builder_->order(before, id);
    needed(way.machine, part, id);
  };
  if (way.landed.empty()) return spread(groups.front(), after);
  const OpId summed = groups.size() == 1 ? OpId::none() : join(*builder_, part, way.machine, after);
  std::map<int, std::pair<Slice, OpId>> at_numa;  // where the sum is, and after which op
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int numa = builder_->buffer(way.landed[i].buffer).numa;
    const auto [here, fresh] = at_numa.try_emplace(numa, way.staging, summed);
    if (fresh && numa != builder_->buffer(way.staging.buffer).numa) {
      here->second = {way.landed[i], copy(part, way.machine, way.staging, way.landed[i], summed)};
    }
    const OpId copied =
        copy(part, way.machine, here->second.first, held(way, part, groups[i], false), here->second.second);
    if (groups.size() == 1) {
      for (const OpId op : after) builder_->order(op, copied);
    }
    spread(groups[i], {copied});
  }
}

OpId LocalStages::scheduled(MachineId machine, const Part& part, OpId ready) {
  if (options_.part_overhead == Duration(0)) return ready;
  return add_delay(*builder_, part, machine, OpKind::kWait, options_.part_overhead, ready);
}

void LocalStages::needed(MachineId machine, const Part& part, OpId op) {
  State& state = at(machine);
  // Forwards run in order, so the first of the part's layers represents all of them.
  const bool first = options_.barrier && !options_.independent_layers;
  state.needs[static_cast<std::size_t>(first ? 0 : part.first_layer)].push_back(op);
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
      if (options_.independent_layers) {
        builder_->order(backward(machine, layer), id);
        builder_->carry(id, backward(machine, layer));
      } else {
        builder_->order(before, id);
      }
      for (const OpId need : state.needs[static_cast<std::size_t>(layer)]) builder_->order(need, id);
      before = id;
    }
    if (!options_.independent_layers) builder_->carry(before, backward(machine, workload_->layers() - 1));
  }
  if (options_.sum_order == SumOrder::kPlan) builder_->order_sums();
}

}  // namespace weir
