#include "core/analysis/loads.h"

#include <algorithm>
#include <map>

#include "core/analysis/local_choice.h"
#include "core/analysis/shares.h"

namespace weir {
namespace {

bool sums(const Resource& resource) {
  return resource.kind == Resource::Kind::kHostSum || resource.kind == Resource::Kind::kGpuSum;
}

// Adds what an op of an all-reduce sends through NICs: out of its machine, into the next.
void add_all_reduce(const Op& op, const Cluster& cluster, const WorkTable& works,
                    std::vector<MachineLoad>& loads) {
  const Work& work = works.of(op.id);
  if (work.path == Work::kNoPath) return;
  for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)]) {
    const Link& link = cluster.link(use.link);
    if (link.kind != Link::Kind::kNic) continue;
    MachineLoad& load = loads[link.machine.index()];
    (link.machine == op.machine ? load.out : load.in) += work.size * use.weight;
  }
}

}  // namespace

std::vector<MachineLoad> machine_loads(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  std::vector<MachineLoad> loads(plan.machines());
  Bytes summed;
  for (const Op& op : plan.ops()) {
    MachineLoad& load = loads[op.machine.index()];
    switch (op.kind) {
      case OpKind::kSend:
        load.out += op.from.size;
        break;
      case OpKind::kReceive:
        load.in += op.into.size;
        break;
      case OpKind::kAllReduce:
        add_all_reduce(op, cluster, works, loads);
        break;
      case OpKind::kSum:
        load.summed += op.into.size;
        summed += op.into.size;
        break;
      case OpKind::kBackward:
      case OpKind::kForward:
      case OpKind::kUpdate:
      case OpKind::kCopy:
      case OpKind::kJoin:
      case OpKind::kWait:
      case OpKind::kHold:
      case OpKind::kReduceScatter:
      case OpKind::kAllGather:
      case OpKind::kReduce:
      case OpKind::kBroadcast:
        break;
    }
  }
  const std::vector<Bytes> links = link_loads(plan, cluster, works);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    MachineLoad& load = loads[i];
    for (const Nic& nic : cluster.machines()[i].nics) {
      load.busiest_nic = std::max({load.busiest_nic, links[nic.in.index()], links[nic.out.index()]});
    }
    if (summed > Bytes(0)) {
      load.share = static_cast<double>(load.summed.count()) / static_cast<double>(summed.count());
    }
    load.host_memory = plan.host_memory(MachineId(i));
    load.gpu_memory = plan.gpu_memory(MachineId(i));
  }
  return loads;
}

Busiest busiest(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  Busiest most;
  const auto consider = [&](const std::string& name, Duration time) {
    if (time > most.time) most = {name, time};
  };
  const std::vector<Bytes> links = link_loads(plan, cluster, works);
  for (std::size_t i = 0; i < links.size(); ++i)
    consider(cluster.links()[i].name, links[i] / reached_rate(plan, cluster.links()[i]));
  std::vector<Duration> held(works.resources().size());
  for (const Op& op : plan.ops()) {
    const std::uint32_t resource = works.of(op.id).resource;
    if (sums(works.resources()[resource])) held[resource] += works.shortest(op.id);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] > Duration(0)) consider(name(works.resources()[i], cluster), held[i]);
  }
  return most;
}

Result<Duration> ideal(const Cluster& cluster, const Workload& workload, const Options& options) {
  const Dtype dtype = most_common_dtype(workload.trace());
  Options optimal = options;
  optimal.cpu_share_factor = 1.0;
  const auto local = choose_local(cluster, dtype, optimal);
  if (!local) return tl::unexpected(local.error());
  const auto shares = shares_of(cluster, dtype, optimal, local->stages, Summing::kOptimal);
  if (!shares) return tl::unexpected(shares.error());
  return Duration::from_seconds(shares->seconds_per_byte * static_cast<double>(workload.size().count()));
}

}  // namespace weir
