// The parts that were found on a host, as the system names and counts them. Plain data without judgement:
// host_topology.h turns it into a topology, checks.h says what looks wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/topology.h"

namespace weir::real {

/// A PCIe link as Linux writes it: "16.0 GT/s PCIe" and lanes. Empty and 0 if not known.
struct PcieLink {
  std::string speed;
  int width = 0;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// The slower of the two in speed and in width. If one of them is not known, the other counts.
PcieLink narrower(const PcieLink& one, const PcieLink& other);

/// The place of a device in the machine.
struct DevicePlace {
  std::string id;     // on PCI: "0000:3b:00.0"; empty if it is not on PCI
  std::string above;  // the id of the PCIe switch above it; empty if there is none
  int numa = -1;      // the nearest NUMA node, by the system's numbers; -1: not known
  PcieLink own;       // the fastest link that the device supports
  PcieLink link;      // the fastest that both the device and the port above support; idle GPUs run slower
  int lanes_now = 0;  // 0: not known
};

struct HostParts {
  struct Numa {
    int number = 0;   // by the system's count
    int package = 0;  // its socket
    Bytes memory;
    int cores = 0;                              // those that this process may use
    std::optional<BytesPerSecond> memory_rate;  // if measured
    std::optional<SumRates> sum_rate;           // if measured
  };

  /// A PCIe switch, identified by its port towards the CPU; this is that port's link. Broadcom's switches
  /// show as two, one above the other: the numbers are the generation of each half, 0 if it is not one of
  /// theirs.
  struct Switch {
    DevicePlace place;
    int broadcom_upper = 0;
    int broadcom_lower = 0;
  };

  struct Nvlink {
    enum class Target { kGpu, kSwitch, kCpu, kOther };
    Target target = Target::kOther;
    std::string id;  // of a GPU
  };

  struct Gpu {
    std::string name;
    DevicePlace place;
    Bytes memory;
    int capability = 0;  // 90 for 9.0; 0: not known
    bool mig = false;
    std::vector<Nvlink> nvlinks;  // those that are up
    int nvlinks_down = 0;
    std::optional<Rates> copies;  // from and to host memory, if measured
  };

  struct Nic {
    enum class Kind { kPort, kVirtualFunction, kUsb };
    std::string name;       // "eth0", or "mlx5_0 port 1" for InfiniBand
    std::string full_name;  // of the card
    std::string driver;
    DevicePlace place;
    Kind kind = Kind::kPort;
    bool infiniband = false;
    bool up = true;
    std::optional<std::int64_t> mbps;
    std::int64_t mtu = 0;  // 0: not known
  };

  std::string host;
  std::string arch;    // as NCCL writes it: "x86_64", "arm64", "ppc64"
  std::string vendor;  // of the CPUs
  int family = 0;
  int model = 0;
  std::vector<Numa> numas;       // by number
  std::vector<Switch> switches;  // upper ones before lower ones
  std::vector<Gpu> gpus;         // those that NVML lists, in its order
  std::vector<Nic> nics;
  /// NVIDIA's GPUs on PCI, even those that no driver shows to this process.
  std::vector<DevicePlace> gpu_devices;
  std::string driver;     // of the GPUs: "550.54.15"; empty without NVML
  std::string no_driver;  // why there is no driver
};

}  // namespace weir::real
