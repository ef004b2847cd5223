#include "backends/real/discovery/host_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/formats/nccl/nccl_nics.h"
#include "core/formats/nccl/nccl_nvlink.h"
#include "core/formats/nccl/nccl_rates.h"
#include "core/formats/remarks.h"

namespace weir::real {
namespace {

constexpr int kMuchSlower = 4;
constexpr int kNoLine = 0;

Rates both(BytesPerSecond rate) { return {rate, rate}; }

/// The card of a device: its PCI id without the function, since two ports of a card are two functions.
std::string card_of(const HostParts::Nic& nic) { return nic.place.id.substr(0, nic.place.id.rfind('.')); }

class TopologyMaker {
 public:
  TopologyMaker(const HostParts& parts, const TopologyWishes& wishes, Remarks& remarks)
      : parts_(parts), wishes_(wishes), remarks_(remarks) {}

  GroupSpec make() {
    choose_nics();
    add_numas();
    add_sockets();
    add_switches();
    add_gpus();
    add_nics();
    return group_;
  }

 private:
  /// A place in the topology: the part that it is connected to, and its rate.
  struct Spot {
    std::string at;
    BytesPerSecond rate;
  };

  void choose_nics();
  void add_numas();
  void add_sockets();
  void add_switches();
  void add_gpus();
  void add_nvlinks();
  void add_nics();
  void report_slow_bridge(const SwitchSpec& spec, BytesPerSecond device);

  void join_halves();
  /// The id of the switch above the place; for a lower half, that of the upper half.
  std::string above(const DevicePlace& place) const;
  std::string numa_name(int number);
  Spot spot(const DevicePlace& place, BytesPerSecond rate);
  BytesPerSecond rate_of(const PcieLink& link, BytesPerSecond otherwise);

  const HostParts& parts_;
  const TopologyWishes& wishes_;
  Remarks& remarks_;
  GroupSpec group_;
  std::vector<HostParts::Nic> nics_;             // those in the topology
  std::map<int, std::string> numa_names_;        // by the system's number
  std::map<std::string, std::string> joined_;    // ids of upper halves of Broadcom's switches, by lower half
  std::map<std::string, std::string> switches_;  // names in the topology, by id
  std::map<std::string, Spot> dissolved_;  // bridges that are left out: where their device is instead, by id
};

void TopologyMaker::choose_nics() {
  using Kind = HostParts::Nic::Kind;
  for (const HostParts::Nic& nic : parts_.nics) {
    if (nic.kind == Kind::kVirtualFunction) {
      remarks_.assumed(kNoLine, fmt::format("{} is a virtual function of another NIC: left out", nic.name));
    } else if (nic.kind == Kind::kUsb) {
      remarks_.assumed(kNoLine, fmt::format("{} is on USB, like management controllers: left out", nic.name));
    } else if (!nic.up) {
      remarks_.assumed(kNoLine, fmt::format("{} is down: left out", nic.name));
    } else {
      nics_.push_back(nic);
    }
  }
  std::int64_t fastest = 0;
  for (const HostParts::Nic& nic : nics_) fastest = std::max(fastest, nic.mbps.value_or(0));
  for (const HostParts::Nic& nic : nics_) {
    if (!nic.mbps || *nic.mbps * 10 > fastest) continue;
    remarks_.assumed(kNoLine,
                     fmt::format("{} has {} Gbps, a tenth or less of the fastest; if gradients must not "
                                 "use it, remove it from 'nics'",
                                 nic.name, static_cast<double>(*nic.mbps) / 1000));
  }
}

void TopologyMaker::add_numas() {
  group_.numa.clear();
  for (const HostParts::Numa& numa : parts_.numas) {
    if (numa.cores == 0 && parts_.numas.size() > 1) {
      remarks_.assumed(kNoLine,
                       fmt::format("NUMA node {} has no CPU for this process: left out", numa.number));
      continue;
    }
    numa_names_[numa.number] = fmt::format("numa{}", group_.numa.size());
    NumaSpec spec;
    spec.memory = Bytes(numa.memory.count() >> 20 << 20);
    spec.cores = numa.cores;
    const nccl::UserValues& user = wishes_.user_values;
    spec.memory_rate = user.memory_rate.value_or(numa.memory_rate.value_or(BytesPerSecond::unlimited()));
    spec.sum_rate = user.sum_rate ? SumRates{{}, *user.sum_rate} : numa.sum_rate.value_or(SumRates());
    if (!spec.memory_rate.limited())
      remarks_.assumed(kNoLine,
                       "the rate of memory is unknown and taken as unlimited; --measure "
                       "measures it");
    if (spec.sum_rate == SumRates())
      remarks_.assumed(kNoLine,
                       "the rate of summation is unknown and taken as unlimited; --measure "
                       "measures it");
    group_.numa.push_back(spec);
  }
  if (group_.numa.empty()) group_.numa.emplace_back();
}

/// Joins each two directly, as NCCL does. Nodes of one socket share its memory controllers' mesh.
void TopologyMaker::add_sockets() {
  std::vector<HostParts::Numa> numas;
  for (const HostParts::Numa& numa : parts_.numas) {
    if (numa_names_.contains(numa.number)) numas.push_back(numa);
  }
  const auto known = nccl::socket_rate(parts_.arch, parts_.vendor, parts_.family, parts_.model);
  for (std::size_t a = 0; a < numas.size(); ++a) {
    for (std::size_t b = a + 1; b < numas.size(); ++b) {
      BytesPerSecond rate = known.value_or(BytesPerSecond::unlimited());
      if (numas[a].package == numas[b].package) {
        rate = BytesPerSecond::unlimited();
        remarks_.assumed(kNoLine,
                         "the rate between NUMA nodes of one socket is unknown and taken as unlimited");
      } else if (!known) {
        remarks_.assumed(kNoLine, fmt::format("NCCL has no rate between sockets of arch '{}' vendor '{}': "
                                              "taken as unlimited",
                                              parts_.arch, parts_.vendor));
      } else {
        remarks_.assumed(
            kNoLine,
            fmt::format("the rate between sockets is taken as {}, as NCCL does for such CPUs", text(rate)));
      }
      group_.sockets.push_back({{static_cast<int>(a), static_cast<int>(b)}, both(rate), {}});
    }
  }
}

std::string TopologyMaker::numa_name(int number) {
  const auto known = numa_names_.find(number);
  if (known != numa_names_.end()) return known->second;
  if (group_.numa.size() > 1)
    remarks_.assumed(kNoLine, "the NUMA node of some devices is unknown and taken as numa0");
  return "numa0";
}

BytesPerSecond TopologyMaker::rate_of(const PcieLink& link, BytesPerSecond otherwise) {
  const int width = link.width > 0 ? link.width : nccl::kDefaultWidth;
  return nccl::pcie_rate(link.speed, width).value_or(otherwise);
}

TopologyMaker::Spot TopologyMaker::spot(const DevicePlace& place, BytesPerSecond rate) {
  if (const auto known = switches_.find(above(place)); known != switches_.end()) return {known->second, rate};
  if (const auto gone = dissolved_.find(above(place)); gone != dissolved_.end())
    return {gone->second.at, std::min(rate, gone->second.rate)};
  return {numa_name(place.numa), rate};
}

void TopologyMaker::join_halves() {
  std::map<std::string, int> upper;  // the generation, by id
  for (const HostParts::Switch& one : parts_.switches) {
    upper[one.place.id] = one.broadcom_upper;
    if (one.broadcom_lower != 0 && one.broadcom_lower == upper[one.place.above])
      joined_[one.place.id] = one.place.above;
  }
}

std::string TopologyMaker::above(const DevicePlace& place) const {
  const auto half = joined_.find(place.above);
  return half == joined_.end() ? place.above : half->second;
}

void TopologyMaker::add_switches() {
  join_halves();
  std::map<std::string, std::set<std::string>> below;  // what is below each switch, by id
  for (const HostParts::Gpu& gpu : parts_.gpus) below[above(gpu.place)].insert(gpu.place.id);
  for (const HostParts::Nic& nic : nics_) below[above(nic.place)].insert(card_of(nic));
  for (auto one = parts_.switches.rbegin(); one != parts_.switches.rend(); ++one) {
    if (!below[one->place.id].empty()) below[above(one->place)].insert(one->place.id);
  }
  for (const HostParts::Switch& one : parts_.switches) {
    const std::string& id = one.place.id;
    if (below[id].empty()) continue;
    const Spot upwards = spot(one.place, rate_of(one.place.link, BytesPerSecond::unlimited()));
    if (below[id].size() == 1) {
      dissolved_[id] = upwards;
      continue;
    }
    if (!upwards.rate.limited())
      remarks_.assumed(kNoLine, "a PCIe switch reports no speed of its upward link: taken as unlimited");
    SwitchSpec spec;
    spec.name = fmt::format("p{}", group_.switches.size());
    spec.at = upwards.at;
    spec.rate = both(upwards.rate);
    switches_[id] = spec.name;
    group_.switches.push_back(spec);
  }
}

void TopologyMaker::add_gpus() {
  for (const HostParts::Gpu& found : parts_.gpus) {
    if (found.place.link.speed.empty())
      remarks_.assumed(kNoLine, fmt::format("a GPU reports no PCIe speed: taken as PCIe 3 ({}), as NCCL does",
                                            nccl::kDefaultSpeed));
    const BytesPerSecond usual = *nccl::pcie_rate(nccl::kDefaultSpeed, nccl::kDefaultWidth);
    const Spot spot = this->spot(found.place, rate_of(found.place.link, usual));
    GpuSpec gpu;
    gpu.at = spot.at;
    gpu.rate = found.copies.value_or(both(spot.rate));
    gpu.memory = Bytes(found.memory.count() >> 20 << 20);
    nccl::append_alike(group_.gpus, gpu);
    for (const SwitchSpec& spec : group_.switches) {
      if (spec.name == gpu.at) report_slow_bridge(spec, gpu.rate.out);
    }
  }
  if (parts_.gpu_devices.size() > parts_.gpus.size()) {
    remarks_.assumed(kNoLine,
                     fmt::format("the driver does not list {} of {} NVIDIA GPUs on PCI{}: left out",
                                 parts_.gpu_devices.size() - parts_.gpus.size(), parts_.gpu_devices.size(),
                                 parts_.no_driver.empty() ? "" : " (" + parts_.no_driver + ")"));
  }
  if (parts_.gpus.size() > 1) add_nvlinks();
}

void TopologyMaker::report_slow_bridge(const SwitchSpec& spec, BytesPerSecond device) {
  if (spec.rate.out.value() > device.value() / kMuchSlower) return;
  remarks_.assumed(kNoLine,
                   fmt::format("the switch {} has {} upwards, but GPUs with {} below it: kept, though "
                               "bridges of virtual machines often report too little",
                               spec.name, text(spec.rate.out), text(device)));
}

void TopologyMaker::add_nvlinks() {
  using Target = HostParts::Nvlink::Target;
  nccl::NvlinkReader links(wishes_.user_values, remarks_);
  for (const HostParts::Gpu& found : parts_.gpus) {
    const BytesPerSecond one = nccl::nvlink_rate(found.capability);
    nccl::NvlinkReader::Gpu gpu;
    gpu.id = nccl::plain_bus_id(found.place.id);
    for (const HostParts::Nvlink& link : found.nvlinks) {
      if (link.target == Target::kGpu) {
        gpu.peers.push_back({nccl::plain_bus_id(link.id), one, kNoLine});
      } else if (link.target == Target::kCpu) {
        remarks_.assumed(kNoLine, "NVLinks to the CPU are left out");
      } else {
        if (link.target == Target::kOther)
          remarks_.assumed(kNoLine, "NVLinks with an unknown end are taken as links to an NVSwitch");
        gpu.to_switch = gpu.to_switch + one;
      }
    }
    links.add(gpu);
  }
  links.finish(group_);
}

void TopologyMaker::add_nics() {
  nccl::NicReader cards(wishes_.user_values, remarks_);
  for (const HostParts::Nic& nic : nics_) {
    const Spot spot = this->spot(nic.place, rate_of(nic.place.link, BytesPerSecond::unlimited()));
    const BytesPerSecond rate = nic.mbps
                                    ? nccl::network_rate(*nic.mbps)
                                    : cards.default_rate(kNoLine, (nic.name + " reports no speed").c_str());
    cards.add({card_of(nic), spot.at, spot.rate, {rate}});
  }
  if (nics_.empty() && !wishes_.user_values.nic_rate)
    remarks_.assumed(kNoLine, "no NIC is up, so the machine has none; --nic-rate RATE adds one");
  cards.finish(group_);
}

/// What was measured, for the topology's source.
std::string measured(const HostParts& parts) {
  const auto some = [](const auto& list, auto member) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return (one.*member).has_value(); });
  };
  std::vector<std::string> what;
  if (some(parts.numas, &HostParts::Numa::sum_rate)) what.emplace_back("sums");
  if (some(parts.numas, &HostParts::Numa::memory_rate)) what.emplace_back("memory");
  if (some(parts.gpus, &HostParts::Gpu::copies)) what.emplace_back("copies of GPUs");
  return what.empty() ? "nothing measured" : fmt::format("measured: {}", fmt::join(what, ", "));
}

}  // namespace

Result<Imported> host_topology(const HostParts& parts, const TopologyWishes& wishes) {
  Remarks remarks(parts.host);
  GroupSpec group = TopologyMaker(parts, wishes, remarks).make();
  group.name = group.gpus.empty() ? "cpu" : "gpu";
  group.count = wishes.count;
  if (wishes.count > 1 && group.nics.empty()) {
    return failure(
        fmt::format("{}: no NIC is up, but each of {} machines needs one; --nic-rate RATE "
                    "adds one at numa0",
                    parts.host, wishes.count));
  }
  Imported made;
  made.topology.name = wishes.name.empty() ? parts.host : wishes.name;
  made.topology.source =
      fmt::format("discovered on {}{}{}; NCCL's rates of PCIe, NVLink and sockets; {}", parts.host,
                  wishes.date.empty() ? "" : ", ", wishes.date, measured(parts));
  made.topology.groups.push_back(std::move(group));
  made.topology.network.latency = wishes.user_values.latency.value_or(nccl::kUsualLatency);
  if (!wishes.user_values.latency) {
    remarks.assumed(kNoLine, fmt::format("the network's latency is taken as {}; --latency sets the real one",
                                         text(nccl::kUsualLatency)));
  }
  made.warnings = remarks.warnings();
  if (const auto checked = check_topology(made.topology); !checked) return tl::unexpected(checked.error());
  return made;
}

}  // namespace weir::real
