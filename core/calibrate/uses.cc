#include "core/calibrate/uses.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>

#include "core/cluster/link_values.h"

namespace weir {
namespace {

// The share of each GPU of a slice's group, if they divide it.
Bytes share(const Slice& slice, const Plan& plan) {
  return slice.size / std::max<std::int64_t>(1, std::ssize(plan.group(slice.on.group())));
}

// The size of one message, copy or sum of the op. For a slice in shards it is a share; for a collective it is
// what a GPU passes to the next at once, as in benchmarks of collectives (nccl::passed_at_once).
Bytes at_once(const Op& op, const Plan& plan) {
  const auto part = [&](const Slice& slice) {
    return slice.on.kind == Replicas::Kind::kShards ? share(slice, plan) : slice.size;
  };
  switch (op.kind) {
    case OpKind::kSend:
    case OpKind::kCopy:
      return part(op.from);
    case OpKind::kSum:
    case OpKind::kUpdate:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
      return part(op.into);
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
      return share(op.into, plan);
    case OpKind::kAllReduce: {
      std::int64_t gpus = 0;
      for (const OpId member : plan.all_reduce(op.all_reduce))
        gpus += std::ssize(plan.group(plan.op(member).into.on.group()));
      return op.into.size / gpus;
    }
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kReceive:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
      return {};  // they move nothing themselves
  }
  return {};
}

class Finder {
 public:
  Finder(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
         const Contender& contender)
      : plan_(plan),
        cluster_(cluster),
        works_(works),
        experiment_(experiment),
        links_(link_values(experiment.topology, cluster)) {
    for (const LinkValues& link : links_) {
      rates_.push_back(value(link.rate));
      latencies_.push_back(link.latency.empty() ? kNone : value(link.latency));
    }
    for (const GroupSpec& group : experiment.topology.groups) groups_[group.name] = &group;
    for (const Machine& machine : cluster.machines()) {
      specs_.push_back(groups_.at(machine.group));
      hidden_.emplace_back();
      for (const std::string& latency : latencies_without_links(*specs_.back()))
        hidden_.back().push_back(value(latency));
    }
    const Model& model = experiment.model;
    of_messages_.push_back(value(std::string(kMessageOverhead)));
    if (contender.strategy->kind == StrategyKind::kAllReduce) of_messages_.push_back(efficiency_);
    if (contender.options.part_overhead > Duration(0)) {
      of_messages_.push_back(value("part_overhead"));
      of_all_reduces_.push_back(value("part_overhead"));
    }
    if (model.entry_overhead > Duration(0) && model.scatter_entries > 1)
      of_messages_.push_back(value("model.entry_overhead"));
    if (model.unaligned_efficiency != 1.0) of_messages_.push_back(value("model.unaligned_efficiency"));
    // These are never measured.
    if (!experiment.conditions.none()) use(value("conditions"), Bytes(0));
    if (!experiment.other_jobs.empty()) use(value("other_jobs"), Bytes(0));
  }

  Uses uses() {
    for (const Op& op : plan_.ops()) add(op);
    Uses uses;
    for (const auto& [path, value] : values_) {
      if (sizes_[value]) uses.values[path] = *sizes_[value];
    }
    std::set<MachineId> machines;  // with at least one op
    std::set<int> racks;
    for (const Op& op : plan_.ops()) {
      if (!machines.insert(op.machine).second) continue;
      racks.insert(cluster_.machine(op.machine).rack);
    }
    uses.machines = static_cast<int>(machines.size());
    if (experiment_.topology.network.racks) uses.racks = static_cast<int>(racks.size());
    return uses;
  }

 private:
  using Value = std::size_t;  // index of a path: there are many ops, few paths
  static constexpr Value kNone = std::numeric_limits<Value>::max();

  Value value(const std::string& path) {
    const auto [at, fresh] = values_.try_emplace(path, sizes_.size());
    if (fresh) sizes_.emplace_back();
    return at->second;
  }

  void use(Value value, Bytes size) {
    std::optional<Sizes>& sizes = sizes_[value];
    if (!sizes) sizes = {size, size};
    sizes->take({size, size});
  }
  void use(const std::vector<Value>& values, Bytes size) {
    for (const Value one : values) use(one, size);
  }

  void add(const Op& op) {
    if (is_compute(op.kind)) return add_compute(op.machine);
    if (!asks(op.kind) || is_delay(op.kind)) return;
    const Work& work = works_.of(op.id);
    const Bytes size = at_once(op, plan_);
    if (work.path != Work::kNoPath) {
      for (const LinkUse& link : works_.paths()[static_cast<std::size_t>(work.path)])
        add(op, link.link, size);
    }
    use(hidden_[op.machine.index()], size);
    if (op.kind == OpKind::kUpdate) use(update_passes_, size);
    if (is_message(op.kind)) add_message(op, size);
    if (meets(op.kind) == Meets::kMachines) add_all_reduce(op, size);
    if (works_.resources()[work.resource].kind == Resource::Kind::kGpuSum) add_gpu_sum(op, size);
  }

  void add(const Op& op, LinkId link, Bytes size) {
    if (latencies_[link.index()] != kNone) use(latencies_[link.index()], size);
    if (cluster_.link(link).kind != Link::Kind::kSum) return use(rates_[link.index()], size);
    const std::string& rate = links_[link.index()].rate;
    const auto index = static_cast<std::size_t>(plan_.buffer(op.into.buffer).numa);
    const NumaSpec& numa = specs_[op.machine.index()]->numa[index];
    const Dtype dtype = computes_in(op);
    add_sum(rate, numa.sum_rate, dtype, size);
    if (numa.sum_threads > 0) add_sum(rate + "_per_thread", numa.sum_rate_per_thread, dtype, size);
  }

  void add_sum(const std::string& path, const SumRates& rates, Dtype dtype, Bytes size) {
    if (!rates.of(dtype).limited()) return;
    if (rates.by_dtype.empty()) return use(value(path), size);
    use(value(path + "." + (rates.by_dtype.contains(dtype) ? std::string(name(dtype)) : "other")), size);
  }

  void add_network(const Machine& from, const Machine& into, Bytes size) {
    use(network_latency_, size);
    if (from.rack == into.rack) return;
    const std::optional<RacksSpec>& racks = experiment_.topology.network.racks;
    if (racks && racks->latency > Duration(0)) use(racks_latency_, size);
  }

  void add_message(const Op& send, Bytes size) {
    use(of_messages_, size);
    use(hidden_[send.peer.index()], size);
    if (send.machine != send.peer)
      add_network(cluster_.machine(send.machine), cluster_.machine(send.peer), size);
  }

  void add_all_reduce(const Op& op, Bytes size) {
    use(of_all_reduces_, size);
    if (plan_.all_reduce(op.all_reduce).size() > 1) use(efficiency_, size);
    for (const OpId other : plan_.all_reduce(op.all_reduce)) {
      if (other != op.id)
        add_network(cluster_.machine(op.machine), cluster_.machine(plan_.op(other).machine), size);
    }
  }

  void add_gpu_sum(const Op& op, Bytes size) {
    const GroupSpec& group = *specs_[op.machine.index()];
    const std::size_t spec = spec_of(group.gpus, op.into.on.single() ? op.into.on.index : 0);
    if (!group.gpus[spec].sum_rate.limited()) return;
    use(value(fmt::format("groups.{}.gpus.{}.sum_rate", group.name, spec)), size);
  }

  // Compute times come from the trace, but slower GPUs and jitter do not.
  void add_compute(MachineId machine) {
    const GroupSpec& group = *specs_[machine.index()];
    for (std::size_t i = 0; i < group.gpus.size(); ++i) {
      if (group.gpus[i].speed != 1.0)
        use(value(fmt::format("groups.{}.gpus.{}.speed", group.name, i)), Bytes(0));
    }
    if (experiment_.model.compute_jitter > 0) use(value("model.compute_jitter"), Bytes(0));
    if (experiment_.model.collective_overhead > Duration(0))
      use(value("model.collective_overhead"), Bytes(0));
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const WorkTable& works_;
  const Experiment& experiment_;
  std::map<std::string, Value> values_;
  std::vector<std::optional<Sizes>> sizes_;  // by value; none if it is not used
  const Value efficiency_ = value(std::string(kAllreduceEfficiency));
  const Value update_passes_ = value("update_passes");
  const Value network_latency_ = value("network.latency");
  const Value racks_latency_ = value("network.racks.latency");
  const std::vector<LinkValues> links_;
  std::vector<Value> rates_, latencies_;  // by link
  std::map<std::string, const GroupSpec*> groups_;
  std::vector<const GroupSpec*> specs_;     // by machine
  std::vector<std::vector<Value>> hidden_;  // latencies, by machine
  std::vector<Value> of_messages_;
  std::vector<Value> of_all_reduces_;
};

}  // namespace

Uses uses_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
             const Contender& contender) {
  return Finder(plan, cluster, works, experiment, contender).uses();
}

}  // namespace weir
