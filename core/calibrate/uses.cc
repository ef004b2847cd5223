#include "core/calibrate/uses.h"

#include <fmt/format.h>

#include <set>

#include "core/cluster/link_values.h"
#include "core/fluid/work.h"
#include "core/strategies/all_reduce.h"

namespace weir {
namespace {

// A share of a slice that lies in shards: what moves at once.
Bytes share(const Slice& slice, const Plan& plan) {
  if (slice.on.kind != Replicas::Kind::kShards) return slice.size;
  return slice.size / std::max<std::int64_t>(1, std::ssize(plan.group(slice.on.group())));
}

class Finder {
 public:
  Finder(const Plan& plan, const Cluster& cluster, const Experiment& experiment, const Contender& contender)
      : plan_(plan),
        cluster_(cluster),
        experiment_(experiment),
        works_(plan, cluster),
        links_(link_values(experiment.topology, cluster)),
        all_reduce_(is_all_reduce(*contender.strategy)),
        part_overhead_(contender.options.part_overhead > Duration(0)) {
    for (const GroupSpec& group : experiment.topology.groups) {
      hidden_[group.name] = latencies_without_links(group);
      groups_[group.name] = &group;
    }
    const Model& model = experiment.model;
    if (part_overhead_) of_messages_.emplace_back("part_overhead");
    if (model.entry_overhead > Duration(0) && model.scatter_entries > 1)
      of_messages_.emplace_back("model.entry_overhead");
    if (model.unaligned_efficiency != 1.0) of_messages_.emplace_back("model.unaligned_efficiency");
    // Which nobody measures.
    if (!experiment.conditions.none()) use("conditions", Bytes(0));
    if (!experiment.other_jobs.empty()) use("other_jobs", Bytes(0));
  }

  Uses uses() {
    for (const Op& op : plan_.ops()) add(op);
    uses_.machines = static_cast<int>(cluster_.machines().size());
    if (experiment_.topology.network.racks) {
      std::set<int> racks;
      for (const Machine& machine : cluster_.machines()) racks.insert(machine.rack);
      uses_.racks = static_cast<int>(racks.size());
    }
    return std::move(uses_);
  }

 private:
  void use(const std::string& path, Bytes size) {
    const Sizes sizes{size, size};
    const auto [at, fresh] = uses_.values.try_emplace(path, sizes);
    if (!fresh) at->second.take(sizes);
  }

  void add(const Op& op) {
    const Machine& machine = cluster_.machine(op.machine);
    if (is_compute(op.kind)) return add_compute(machine);
    if (op.kind == OpKind::kReceive || op.kind == OpKind::kJoin || is_delay(op.kind)) return;
    const Work& work = works_.of(op.id);
    const bool copies = op.kind == OpKind::kSend || op.kind == OpKind::kCopy;
    const Bytes size = share(copies ? op.from : op.into, plan_);
    if (work.path != Work::kNoPath) {
      for (const LinkUse& link : works_.paths()[static_cast<std::size_t>(work.path)])
        add(op, link.link, size);
    }
    for (const std::string& latency : hidden_.at(machine.group)) use(latency, size);
    if (op.kind == OpKind::kSend) add_message(op, size);
    if (op.kind == OpKind::kAllReduce) add_all_reduce(op, machine, size);
    if (works_.resources()[work.resource].kind == Resource::Kind::kGpuSum) add_gpu_sum(op, machine, size);
  }

  void add(const Op& op, LinkId link, Bytes size) {
    const LinkValues& values = links_[link.index()];
    if (!values.latency.empty()) use(values.latency, size);
    if (cluster_.link(link).kind != Link::Kind::kSum) return use(values.rate, size);
    const GroupSpec& group = *groups_.at(cluster_.machine(op.machine).group);
    const auto index = static_cast<std::size_t>(plan_.buffer(op.into.buffer).numa);
    const NumaSpec& numa = group.numa[index];
    const Dtype dtype = op.kind == OpKind::kUpdate ? Dtype::kF32 : op.dtype;
    add_sum(values.rate, numa.sum_rate, dtype, size);
    if (numa.sum_threads > 0) add_sum(values.rate + "_per_thread", numa.sum_rate_per_thread, dtype, size);
  }

  void add_sum(const std::string& path, const SumRates& rates, Dtype dtype, Bytes size) {
    if (!rates.of(dtype).limited()) return;
    if (rates.by_dtype.empty()) return use(path, size);
    use(path + "." + (rates.by_dtype.contains(dtype) ? std::string(name(dtype)) : "other"), size);
  }

  void add_network(const Machine& from, const Machine& into, Bytes size) {
    use("network.latency", size);
    if (from.rack == into.rack) return;
    const std::optional<RacksSpec>& racks = experiment_.topology.network.racks;
    if (racks && racks->latency > Duration(0)) use("network.racks.latency", size);
  }

  void add_message(const Op& send, Bytes size) {
    const Machine& from = cluster_.machine(send.machine);
    const Machine& into = cluster_.machine(send.peer);
    use(std::string(kMessageOverhead), size);
    if (send.machine != send.peer) add_network(from, into, size);
    for (const std::string& latency : hidden_.at(into.group)) use(latency, size);
    if (all_reduce_) use(std::string(kAllreduceEfficiency), size);
    for (const std::string& path : of_messages_) use(path, size);
  }

  void add_all_reduce(const Op& op, const Machine& machine, Bytes size) {
    use(std::string(kAllreduceEfficiency), size);
    if (part_overhead_) use("part_overhead", size);
    for (const OpId other : plan_.all_reduce(op.all_reduce)) {
      if (other != op.id) add_network(machine, cluster_.machine(plan_.op(other).machine), size);
    }
  }

  void add_gpu_sum(const Op& op, const Machine& machine, Bytes size) {
    const GroupSpec& group = *groups_.at(machine.group);
    const std::size_t spec = spec_of(group.gpus, op.into.on.single() ? op.into.on.index : 0);
    if (!group.gpus[spec].sum_rate.limited()) return;
    use(fmt::format("groups.{}.gpus.{}.sum_rate", machine.group, spec), size);
  }

  // Compute times are the trace's, but slower GPUs and jitter are not.
  void add_compute(const Machine& machine) {
    const GroupSpec& group = *groups_.at(machine.group);
    for (std::size_t i = 0; i < group.gpus.size(); ++i) {
      if (group.gpus[i].speed != 1.0) use(fmt::format("groups.{}.gpus.{}.speed", machine.group, i), Bytes(0));
    }
    if (experiment_.model.compute_jitter > 0) use("model.compute_jitter", Bytes(0));
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const Experiment& experiment_;
  WorkTable works_;
  std::vector<LinkValues> links_;
  bool all_reduce_;
  bool part_overhead_;
  std::map<std::string, std::vector<std::string>> hidden_;  // latencies, by group
  std::map<std::string, const GroupSpec*> groups_;
  std::vector<std::string> of_messages_;  // values of the experiment that are set
  Uses uses_;
};

}  // namespace

Uses uses_of(const Plan& plan, const Cluster& cluster, const Experiment& experiment,
             const Contender& contender) {
  return Finder(plan, cluster, experiment, contender).uses();
}

}  // namespace weir
