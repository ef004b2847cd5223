#include "core/report/service.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weir {
namespace {

// Ops that were ready at the same instant take their turns in the order in which they complete.
void take_turns(std::vector<Service>& services) {
  std::stable_sort(services.begin(), services.end(), [](const Service& a, const Service& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  Instant free;
  for (Service& service : services) {
    service.begin = std::max(service.begin, free);
    free = std::max(free, service.end);
  }
  std::erase_if(services, [](const Service& service) { return service.end <= service.begin; });
}

struct Change {
  Instant at;
  double rate;
};

std::vector<LinkStep> steps(std::vector<Change> changes, double rate) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  std::vector<LinkStep> steps;
  double sum = 0.0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].rate;
    if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at) continue;
    steps.push_back({changes[i].at, sum / rate});
  }
  if (!steps.empty()) steps.back().use = 0.0;  // rounding may leave it slightly off
  return steps;
}

}  // namespace

std::vector<Server> servers(const Plan& plan, const WorkTable& works, const Record& record) {
  // For devices, the remaining parts of the key are 0.
  using Key = std::tuple<Resource, MachineId, int>;
  std::map<Key, Server> found;
  for (const Op& op : plan.ops()) {
    if (!asks(op.kind)) continue;
    const Resource& resource = works.resources()[works.of(op.id).resource];
    Key key{resource, MachineId(0), 0};
    const bool message = is_message(op.kind);
    if (message) key = {resource, op.peer, plan.op(plan.messages()[op.message.index()].receive).nic};
    Server& server = found[key];
    server.resource = resource;
    if (message) server.message = &op;
    const Duration latency = works.of(op.id).latency;
    for (int i = 0; i < static_cast<int>(record.iterations.size()); ++i) {
      const OpRecord& times = record.of(op.id, i);
      server.services.push_back({&op, i, times.started, times.completed + latency * -1});
    }
  }
  std::vector<Server> servers;
  for (auto& [key, server] : found) {
    take_turns(server.services);
    if (!server.services.empty()) servers.push_back(std::move(server));
  }
  return servers;
}

std::vector<std::vector<LinkStep>> link_use(const std::vector<Server>& servers, const Cluster& cluster,
                                            const WorkTable& works, Duration message_overhead) {
  std::vector<std::vector<Change>> changes(cluster.links().size());
  for (const Server& server : servers) {
    for (const Service& service : server.services) {
      const Work& work = works.of(service.op->id);
      if (work.path == Work::kNoPath) continue;
      const Instant begin = service.begin + (is_message(service.op->kind) ? message_overhead : work.hold);
      if (service.end <= begin) continue;
      for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)]) {
        const double bytes = static_cast<double>(work.size.count()) * use.weight;
        const double rate = bytes / (service.end - begin).seconds();
        changes[use.link.index()].push_back({begin, rate});
        changes[use.link.index()].push_back({service.end, -rate});
      }
    }
  }
  std::vector<std::vector<LinkStep>> uses;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    uses.push_back(steps(std::move(changes[i]), static_cast<double>(cluster.links()[i].rate.value())));
  }
  return uses;
}

}  // namespace weir
