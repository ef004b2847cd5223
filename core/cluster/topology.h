// A cluster as a user describes it: groups of equal machines, the inside of one machine of each group, and
// the network between them. Cluster (cluster.h) is the same with all counts expanded. topologies/README.md
// explains the file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/calibration.h"
#include "core/cluster/machine.h"
#include "core/document/fields.h"
#include "core/document/price.h"

namespace weir {

/// The rates of a link in its two directions. `in` is into the device that has the link, such as a GPU or a
/// switch; `out` is out of it. For a NIC they are into and out of its machine.
struct Rates {
  BytesPerSecond in = BytesPerSecond::unlimited();
  BytesPerSecond out = BytesPerSecond::unlimited();
  friend bool operator==(const Rates&, const Rates&) = default;
};

struct NumaSpec {
  Bytes memory;
  BytesPerSecond memory_rate = BytesPerSecond::unlimited();
  SumRates sum_rate;
  SumRates sum_rate_per_thread;
  int sum_threads = 0;  // 0: as many as sum_rate was measured with
  int cores = 0;
  friend bool operator==(const NumaSpec&, const NumaSpec&) = default;
};

/// A link between two NUMA nodes; `out` is from the first to the second.
struct SocketSpec {
  std::vector<int> between;
  Rates rate;
  Duration latency;
  friend bool operator==(const SocketSpec&, const SocketSpec&) = default;
};

struct SwitchSpec {
  std::string name;
  std::string at;
  Rates rate;
  Rates peer_rate;
  Duration latency;
  friend bool operator==(const SwitchSpec&, const SwitchSpec&) = default;
};

struct GpuSpec {
  int count = 1;
  std::string at;
  Rates rate;
  Duration latency;
  Bytes memory;
  double speed = 1.0;
  BytesPerSecond sum_rate = BytesPerSecond::unlimited();
  friend bool operator==(const GpuSpec&, const GpuSpec&) = default;
};

struct NvlinkSwitchSpec {
  Rates rate;
  Duration latency;
  friend bool operator==(const NvlinkSwitchSpec&, const NvlinkSwitchSpec&) = default;
};

/// A link between two GPUs; `out` is from the first to the second.
struct NvlinkPairSpec {
  std::vector<int> between;
  Rates rate;
  Duration latency;
  friend bool operator==(const NvlinkPairSpec&, const NvlinkPairSpec&) = default;
};

/// Either a switch that joins all GPUs of the machine or direct links between pairs.
struct NvlinkSpec {
  std::optional<NvlinkSwitchSpec> crossbar;
  std::vector<NvlinkPairSpec> pairs;
  friend bool operator==(const NvlinkSpec&, const NvlinkSpec&) = default;
};

/// One port of an RDMA device.
struct RdmaPortSpec {
  std::string device;
  int port = 1;
  friend bool operator==(const RdmaPortSpec&, const RdmaPortSpec&) = default;
};

struct NicSpec {
  int count = 1;
  std::string at;
  Rates rate;
  Duration latency;
  Rates pcie;
  std::optional<RdmaPortSpec> rdma;  // the port for RDMA; if none, found by the NIC's address or its place
  friend bool operator==(const NicSpec&, const NicSpec&) = default;
};

struct GroupSpec {
  std::string name;
  int count = 1;
  std::vector<NumaSpec> numa = {NumaSpec{}};
  std::vector<SocketSpec> sockets;
  std::vector<SwitchSpec> switches;
  std::vector<GpuSpec> gpus;
  std::optional<NvlinkSpec> nvlink;
  std::vector<NicSpec> nics;
  std::optional<Price> price;  // of one machine
  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

struct RacksSpec {
  enum class Placement { kPacked, kSpread };
  int size = 1;
  std::optional<double> oversubscription;
  std::optional<Rates> uplink;
  Duration latency;
  Placement placement = Placement::kPacked;
  friend bool operator==(const RacksSpec&, const RacksSpec&) = default;
};

struct NetworkSpec {
  Duration latency;
  std::optional<RacksSpec> racks;
  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

struct Topology {
  std::string name;
  std::string source;
  std::vector<GroupSpec> groups;
  NetworkSpec network;
  std::optional<Calibration> calibration;
  friend bool operator==(const Topology&, const Topology&) = default;
};

/// The number in "numa0", "numa1"...; -1 if the text is not of this form.
int numa_named(std::string_view text);

/// The number of the NUMA node at the top of the chain that begins at `at`, a switch or NUMA node of the
/// group. All names in the group must be valid.
int numa_above(const GroupSpec& group, std::string_view at);

/// How fast the NUMA node sums: the rates of its threads added up, but at most sum_rate.
SumRates sum_rates(const NumaSpec& numa);

/// How many GPUs and NICs one machine of the group has.
int gpu_count(const GroupSpec& group);
int nic_count(const GroupSpec& group);

/// The NICs of one machine of the group, by number.
std::vector<NicSpec> nics_of(const Topology& topology, const std::string& group);

/// A lower bound on the rates of all links and sums in the cluster.
BytesPerSecond slowest_rate(const Topology& topology);

/// A single text gives one rate for both directions.
template <>
struct Shorthand<Rates> {
  using Short = BytesPerSecond;
  static Rates from(BytesPerSecond rate) { return {rate, rate}; }
  static std::optional<BytesPerSecond> of(const Rates& rates) {
    return rates.in == rates.out ? std::optional(rates.in) : std::nullopt;
  }
};

/// A single text gives one rate for all element types.
template <>
struct Shorthand<SumRates> {
  using Short = BytesPerSecond;
  static SumRates from(BytesPerSecond rate) { return {{}, rate}; }
  static std::optional<BytesPerSecond> of(const SumRates& rates) {
    return rates.by_dtype.empty() ? std::optional(rates.other) : std::nullopt;
  }
};

constexpr auto enum_names(RacksSpec::Placement /*placement*/) {
  using Placement = RacksSpec::Placement;
  return std::array<Named<Placement>, 2>{{{Placement::kPacked, "packed"}, {Placement::kSpread, "spread"}}};
}

}  // namespace weir
