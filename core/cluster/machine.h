// The parts of a cluster: links, memories, and machines with their NUMA nodes, GPUs and NICs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/units.h"

namespace weir {

/// One directed link. A memory bus is a link too: reads and writes share it, so it is in the routes of both
/// directions. The cores of a NUMA node also form a link, for sums; no route crosses it.
struct Link {
  enum class Kind { kNic, kRack, kPcie, kSocket, kNvlink, kMemory, kSum };
  std::string name;  // "gpu[3].nic0.out": machine, device, direction
  Kind kind = Kind::kNic;
  BytesPerSecond rate;
  Duration latency;
  MachineId machine;  // none for a link of the network (rack uplinks)
  friend bool operator==(const Link&, const Link&) = default;
};

/// How fast the cores of one NUMA node sum, in bytes of one operand per second. `into += from` of b bytes
/// takes b / rate.
struct SumRates {
  std::map<Dtype, BytesPerSecond> by_dtype;            // measured dtypes
  BytesPerSecond other = BytesPerSecond::unlimited();  // every other dtype
  BytesPerSecond of(Dtype dtype) const;
  friend bool operator==(const SumRates&, const SumRates&) = default;
};

/// A memory within one machine: the host memory of a NUMA node, or a GPU's.
struct Memory {
  enum class Kind { kHost, kGpu };
  Kind kind = Kind::kHost;
  int index = 0;
  static Memory host(int numa) { return {Kind::kHost, numa}; }
  static Memory gpu(int gpu) { return {Kind::kGpu, gpu}; }
  friend auto operator<=>(const Memory&, const Memory&) = default;
};

struct Numa {
  std::string name;
  Bytes memory;
  SumRates sum_rate;  // with the number of threads that sum
  int cores = 0;
  LinkId bus;                             // the bus of its memory; none if unlimited
  std::map<BytesPerSecond, LinkId> sums;  // the links of its cores, one for each limited rate
  /// The link of its cores for sums of this element type; none if only memory limits such sums.
  LinkId sum_link(Dtype dtype) const;
  friend bool operator==(const Numa&, const Numa&) = default;
};

struct Gpu {
  std::string name;
  std::string at;  // the switch or NUMA node that it is attached to
  int numa = 0;    // the nearest NUMA node
  Bytes memory;
  double speed = 1.0;       // compute speed relative to the GPU of the trace
  BytesPerSecond sum_rate;  // summation in its own memory, bytes of one operand per second
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct Nic {
  std::string name;
  std::string at;  // the switch or NUMA node that it is attached to
  LinkId out;
  LinkId in;
  int numa = 0;  // the nearest NUMA node: where buffers for this NIC belong
  friend bool operator==(const Nic&, const Nic&) = default;
};

struct Machine {
  std::string name;   // "gpu[3]"
  std::string group;  // "gpu"
  std::vector<Numa> numas;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  int rack = 0;
  bool nvlink = false;  // whether NVLink joins GPUs, besides PCIe
  bool has_gpus() const { return !gpus.empty(); }
  /// The speed of its slowest GPU, which sets the pace. The machine must have GPUs.
  double speed() const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The directed links that bytes cross from one memory to another, in order, and the sum of their latencies.
struct Route {
  std::vector<LinkId> links;  // without unlimited links, which delay nothing
  Duration latency;
  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace weir
