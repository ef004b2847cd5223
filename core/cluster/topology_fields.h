// The fields of topology files (fields.h says how such functions are used).
#pragma once

#include "core/cluster/topology.h"

namespace weir {

constexpr Duration kLongestLatency{1'000'000'000};  // 1.5 times that of a satellite link
constexpr int kMostThreads = 4096;
constexpr double kLeastRatio = 0.001;
constexpr double kMostRatio = 1000;

template <class Visitor>
void fields(Visitor& visitor, Rates& rates) {
  visitor.required("in", rates.in, "the rate into the device that has the link");
  visitor.required("out", rates.out, "the rate out of the device that has the link");
}

template <class Visitor>
void fields(Visitor& visitor, SumRates& rates) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64, Dtype::kI32, Dtype::kI64}) {
    std::optional<BytesPerSecond> rate;
    if (const auto known = rates.by_dtype.find(dtype); known != rates.by_dtype.end()) rate = known->second;
    visitor.optional(name(dtype), rate, "the rate for elements of this type");
    if (rate) rates.by_dtype[dtype] = *rate;
  }
  visitor.optional("other", rates.other, "the rate for all other element types");
}

template <class Visitor>
void fields(Visitor& visitor, NumaSpec& numa) {
  visitor.optional("memory", numa.memory, "the size of its memory; 0B if it does not matter");
  visitor.optional("memory_rate", numa.memory_rate, "the rate of its memory, for reads and writes together");
  visitor.optional("sum_rate", numa.sum_rate,
                   "how fast all its cores together add one buffer to another, in bytes of one of them");
  visitor.optional("sum_rate_per_thread", numa.sum_rate_per_thread,
                   "how fast one thread adds, if sum_threads is given");
  visitor.optional(
      "sum_threads", numa.sum_threads,
      "how many threads add, together at most at sum_rate; 0: as many as sum_rate was measured with",
      within(0, kMostThreads));
  visitor.optional("cores", numa.cores, "how many cores it has; 0 if it does not matter", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, SocketSpec& socket) {
  visitor.required("between", socket.between, "the numbers of the two NUMA nodes that the link joins");
  visitor.optional("rate", socket.rate, "the rate each way; 'out' is from the first to the second");
  visitor.optional("latency", socket.latency, "the time that a byte takes to cross", up_to(kLongestLatency));
}

template <class Visitor>
void fields(Visitor& visitor, SwitchSpec& spec) {
  visitor.required("name", spec.name, "its name, which the 'at' of other devices refers to",
                   spelt(Spelling::kName));
  visitor.required("at", spec.at, "the NUMA node ('numa0') or the switch above it");
  visitor.optional("rate", spec.rate, "the rate of its link to what is above it, each way");
  visitor.optional("peer_rate", spec.peer_rate,
                   "how much of that rate device-to-device traffic over this link gets");
  visitor.optional("latency", spec.latency, "the time that a byte takes to cross", up_to(kLongestLatency));
}

template <class Visitor>
void fields(Visitor& visitor, GpuSpec& gpu) {
  visitor.optional("count", gpu.count, "how many equal ones", within(0, 128));
  visitor.required("at", gpu.at, "the NUMA node ('numa0') or the switch that it is attached to");
  visitor.optional("rate", gpu.rate, "the rate of its PCIe link; 'in' is into the GPU");
  visitor.optional("latency", gpu.latency, "the time that a byte takes to cross its PCIe link",
                   up_to(kLongestLatency));
  visitor.optional("memory", gpu.memory, "the size of its memory; 0B if it does not matter");
  visitor.optional("speed", gpu.speed, "how fast it computes, relative to the GPU of the trace",
                   within(kLeastRatio, kMostRatio));
  visitor.optional("sum_rate", gpu.sum_rate,
                   "how fast it adds one buffer to another, in bytes of one of them");
}

template <class Visitor>
void fields(Visitor& visitor, NvlinkSwitchSpec& spec) {
  visitor.required("rate", spec.rate, "the rate of each GPU; 'in' is into the GPU");
  visitor.optional("latency", spec.latency,
                   "the time that a byte takes from GPU to switch, and again to the other GPU",
                   up_to(kLongestLatency));
}

template <class Visitor>
void fields(Visitor& visitor, NvlinkPairSpec& pair) {
  visitor.required("between", pair.between, "the numbers of the two GPUs that the link joins");
  visitor.required("rate", pair.rate, "the rate each way; 'out' is from the first to the second");
  visitor.optional("latency", pair.latency, "the time that a byte takes to cross", up_to(kLongestLatency));
}

template <class Visitor>
void fields(Visitor& visitor, NvlinkSpec& nvlink) {
  visitor.optional("switch", nvlink.crossbar, "a switch that joins all GPUs of the machine");
  visitor.optional("pairs", nvlink.pairs, "direct links, each between two GPUs");
}

template <class Visitor>
void fields(Visitor& visitor, RdmaPortSpec& port) {
  visitor.required("device", port.device, "the device's name, as in /sys/class/infiniband",
                   spelt(Spelling::kName));
  visitor.optional("port", port.port, "its port", within(1, 255));
}

template <class Visitor>
void fields(Visitor& visitor, NicSpec& nic) {
  visitor.optional("count", nic.count, "how many equal ones", within(0, 128));
  visitor.required("at", nic.at, "the NUMA node ('numa0') or the switch that it is attached to");
  visitor.required("rate", nic.rate, "the goodput of the network through it; 'in' is into the machine");
  visitor.optional("latency", nic.latency, "the time that a byte takes through it, each way",
                   up_to(kLongestLatency));
  visitor.optional("pcie", nic.pcie, "the rate of its PCIe link; 'in' is into the machine");
  visitor.optional(
      "rdma", nic.rdma,
      "the port that RDMA uses for it; by default the port with its address, or else the nearest one");
}

template <class Visitor>
void fields(Visitor& visitor, GroupSpec& group) {
  visitor.required("name", group.name, "what its machines are called: gpu[0], gpu[1]...",
                   spelt(Spelling::kName));
  visitor.optional("count", group.count, "how many machines; 0 leaves the group out", within(0, 4096));
  visitor.optional("numa", group.numa, "the NUMA nodes of one machine: numa0, numa1...");
  visitor.optional("sockets", group.sockets, "the links between its NUMA nodes");
  visitor.optional("switches", group.switches, "its PCIe switches");
  visitor.optional("gpus", group.gpus, "its GPUs, numbered in this order");
  visitor.optional("nvlink", group.nvlink, "how its GPUs are joined, in addition to PCIe");
  visitor.optional("nics", group.nics, "its NICs, numbered in this order");
  visitor.optional("price", group.price, "what one machine costs an hour, as '$4.20/h'");
}

template <class Visitor>
void fields(Visitor& visitor, RacksSpec& racks) {
  visitor.required("size", racks.size, "how many machines share a rack", at_least(1));
  visitor.optional("oversubscription", racks.oversubscription,
                   "the rate of all NICs in a rack over the rate of its uplink",
                   within(kLeastRatio, kMostRatio));
  visitor.optional("uplink", racks.uplink, "the rate of a rack's uplink; 'in' is into the rack");
  visitor.optional("latency", racks.latency, "the time that a byte takes through an uplink, each way",
                   up_to(kLongestLatency));
  visitor.optional("placement", racks.placement,
                   "packed fills one rack after the other, spread deals machines out in turn");
}

template <class Visitor>
void fields(Visitor& visitor, NetworkSpec& network) {
  visitor.optional("latency", network.latency, "the time that a byte takes from NIC to NIC, one way",
                   up_to(kLongestLatency));
  visitor.optional("racks", network.racks,
                   "racks whose uplinks machines share; none if the network never blocks");
}

template <class Visitor>
void fields(Visitor& visitor, CalibratedValue& value) {
  visitor.required("path", value.path,
                   "which value: a path in this file, 'model.message_overhead' or 'allreduce_efficiency'",
                   spelt(Spelling::kLabel));
  visitor.required(
      "value", value.value,
      "the fitted value; if the topology has another value there, this entry does not apply to it");
  visitor.optional("was", value.was, "the value before the fit");
  visitor.optional("sources", value.sources, "the files of its measurements");
  visitor.required("points", value.points, "how many measurements determine it", at_least(1));
  visitor.required("least_size", value.least_size, "the smallest message, copy or sum that was measured");
  visitor.required("most_size", value.most_size, "the largest one");
  visitor.optional("machines", value.machines,
                   "the most machines that took part in a measurement; none if it is of one machine alone");
  visitor.optional("racks", value.racks, "the most racks that they were in; none without racks");
  visitor.optional("standard_error_percent", value.standard_error_percent,
                   "the standard error of the value; none if too few points were left to estimate it",
                   at_least(0));
  visitor.optional("residual_percent", value.residual_percent,
                   "the median error of the fit over its points; none if too few points were left",
                   at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, Calibration& calibration) {
  visitor.optional("weir", calibration.weir, "the version that fitted");
  visitor.optional("shapes", calibration.shapes,
                   "a hash of the structure of each group's machines, and of the racks ('network')");
  visitor.required("values", calibration.values, "the values that were fitted, and to which measurements");
}

template <class Visitor>
void fields(Visitor& visitor, Topology& topology) {
  visitor.required("name", topology.name, "what reports call the cluster", spelt(Spelling::kLabel));
  visitor.optional("source", topology.source, "where the numbers come from");
  visitor.required("groups", topology.groups, "groups of equal machines, numbered one group after the other");
  visitor.optional("network", topology.network, "what lies between the machines");
  visitor.optional("calibration", topology.calibration,
                   "which values were fitted to measurements; weir calibrate writes it");
}

}  // namespace weir
