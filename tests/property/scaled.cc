#include "tests/property/scaled.h"

namespace weir::property {
namespace {

void scale(BytesPerSecond& rate, int factor) {
  if (rate.limited()) rate = BytesPerSecond(rate.value() * factor);
}

void scale(Rates& rates, int factor) {
  scale(rates.in, factor);
  scale(rates.out, factor);
}

}  // namespace

Topology without_latencies(Topology topology) {
  for (GroupSpec& group : topology.groups) {
    for (SocketSpec& socket : group.sockets) socket.latency = Duration(0);
    for (SwitchSpec& spec : group.switches) spec.latency = Duration(0);
    for (GpuSpec& gpu : group.gpus) gpu.latency = Duration(0);
    for (NicSpec& nic : group.nics) nic.latency = Duration(0);
    if (!group.nvlink) continue;
    if (group.nvlink->crossbar) group.nvlink->crossbar->latency = Duration(0);
    for (NvlinkPairSpec& pair : group.nvlink->pairs) pair.latency = Duration(0);
  }
  topology.network.latency = Duration(0);
  if (topology.network.racks) topology.network.racks->latency = Duration(0);
  return topology;
}

Topology with_faster_links(Topology topology, int factor) {
  for (GroupSpec& group : topology.groups) {
    for (NumaSpec& numa : group.numa) scale(numa.memory_rate, factor);
    for (SocketSpec& socket : group.sockets) scale(socket.rate, factor);
    for (SwitchSpec& spec : group.switches) {
      scale(spec.rate, factor);
      scale(spec.peer_rate, factor);
    }
    for (GpuSpec& gpu : group.gpus) scale(gpu.rate, factor);
    for (NicSpec& nic : group.nics) {
      scale(nic.rate, factor);
      scale(nic.pcie, factor);
    }
    if (!group.nvlink) continue;
    if (group.nvlink->crossbar) scale(group.nvlink->crossbar->rate, factor);
    for (NvlinkPairSpec& pair : group.nvlink->pairs) scale(pair.rate, factor);
  }
  if (topology.network.racks && topology.network.racks->uplink)
    scale(*topology.network.racks->uplink, factor);
  return topology;
}

Topology with_faster_sums(Topology topology, int factor) {
  for (GroupSpec& group : topology.groups) {
    for (NumaSpec& numa : group.numa) {
      for (SumRates* rates : {&numa.sum_rate, &numa.sum_rate_per_thread}) {
        scale(rates->other, factor);
        for (auto& [dtype, rate] : rates->by_dtype) scale(rate, factor);
      }
    }
    for (GpuSpec& gpu : group.gpus) scale(gpu.sum_rate, factor);
  }
  return topology;
}

Trace with_longer_times(Trace trace, int factor) {
  for (Layer& layer : trace.layers) {
    layer.forward = layer.forward * factor;
    layer.backward = layer.backward * factor;
  }
  return trace;
}

}  // namespace weir::property
