#include "core/cluster/route_table.h"

#include "core/base/check.h"
#include "core/cluster/machine_graph.h"
#include "core/cluster/topology.h"

namespace weir {

RouteTable::RouteTable(const GroupSpec& group)
    : numas_(group.numa.size()), gpus_(static_cast<std::size_t>(gpu_count(group))) {
  const MachineGraph graph(group);
  links_ = graph.links();
  numa_devices_ = graph.numa_devices();
  const auto nics = static_cast<std::size_t>(nic_count(group));
  for (std::size_t i = 0; i < nics; ++i) nics_.push_back(graph.nic_device(i));

  // A route reaches host memory over its bus. A GPU's own memory never delays bytes.
  const auto vertex = [&](std::size_t memory) {
    return memory < numas_ ? graph.numa(memory) : graph.gpu(memory - numas_);
  };
  const auto bus = [&](std::size_t memory) {
    return memory < numas_ ? numa_devices_[memory].bus : LinkId::none();
  };
  const auto add = [](Route& route, LinkId link) {
    if (link.valid()) route.links.push_back(link);
  };
  const auto extend = [](Route& route, const Route& next) {
    route.links.insert(route.links.end(), next.links.begin(), next.links.end());
    route.latency += next.latency;
  };
  for (std::size_t from = 0; from < memories(); ++from) {
    for (std::size_t into = 0; into < memories(); ++into) {
      Route& route = between_.emplace_back();
      add(route, bus(from));
      extend(route, graph.path(vertex(from), vertex(into)).route);
      add(route, bus(into));
    }
  }
  for (std::size_t memory = 0; memory < memories(); ++memory) {
    for (std::size_t nic = 0; nic < nics; ++nic) {
      const MachineGraph::Path path = graph.path(vertex(memory), graph.nic(nic));
      Route& out = out_.emplace_back();
      add(out, bus(memory));
      extend(out, path.route);
      Route& in = in_.emplace_back(graph.path(graph.nic(nic), vertex(memory)).route);
      add(in, bus(memory));
      hops_.push_back(path.hops);
    }
  }
  for (std::size_t nic = 0; nic < nics; ++nic) {
    const Link& wire_out = links_[nics_[nic].out.index()];
    const Link& wire_in = links_[nics_[nic].in.index()];
    for (std::size_t memory = 0; memory < memories(); ++memory) {
      Route& out = out_[memory * nics + nic];
      if (wire_out.rate.limited()) out.links.push_back(nics_[nic].out);
      out.latency += wire_out.latency;
      Route& in = in_[memory * nics + nic];
      if (wire_in.rate.limited()) in.links.insert(in.links.begin(), nics_[nic].in);
      in.latency += wire_in.latency;
    }
  }
}

std::size_t RouteTable::index(Memory memory) const {
  const auto number = static_cast<std::size_t>(memory.index);
  WEIR_CHECK(memory.index >= 0 && number < (memory.kind == Memory::Kind::kHost ? numas_ : gpus_),
             memory.index);
  return memory.kind == Memory::Kind::kHost ? number : numas_ + number;
}

std::size_t RouteTable::index(Memory memory, int nic) const {
  const auto number = static_cast<std::size_t>(nic);
  WEIR_CHECK(nic >= 0 && number < nics_.size(), nic, nics_.size());
  return index(memory) * nics_.size() + number;
}

}  // namespace weir
