// What was found on a host: the parts that a topology tells of, as the system names and counts them. Plain
// data without judgement; host_topology.h makes a topology of it, checks.h says what looks wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/topology.h"

namespace weir::real {

/// A PCIe link as Linux writes it: "16.0 GT/s PCIe" and lanes. Empty and 0 where nobody tells.
struct PcieLink {
  std::string speed;
  int width = 0;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// The slower of the two in speed and in width; what one of them does not tell, the other does.
PcieLink narrower(const PcieLink& one, const PcieLink& other);

/// Where on the machine a device is.
struct DevicePlace {
  std::string id;     // on PCI: "0000:3b:00.0"; empty if it is not on PCI
  std::string above;  // the id of the PCIe switch that it hangs on; empty if that is none
  int numa = -1;      // the nearest NUMA node, by the system's numbers; -1 if nobody tells
  PcieLink own;       // the fastest that the device itself can
  PcieLink link;      // the fastest that the device and the port above it can: idle GPUs have a slower one
  int lanes_now = 0;  // 0 if nobody tells
};

struct HostParts {
  struct Numa {
    int number = 0;   // the system's
    int package = 0;  // the socket that it is in
    Bytes memory;
    int cores = 0;                              // that this process may use
    std::optional<BytesPerSecond> memory_rate;  // where measured
    std::optional<SumRates> sum_rate;           // where measured
  };

  /// A PCIe switch is known by its port towards the CPU, whose link this is. Broadcom's show as two, one
  /// above the other: the generation of that switch, 0 if it is none of theirs.
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
    int capability = 0;  // 90 for 9.0; 0 if not told
    bool mig = false;
    std::vector<Nvlink> nvlinks;  // that are up
    int nvlinks_down = 0;
    std::optional<Rates> copies;  // from and to host memory, where measured
  };

  struct Nic {
    enum class Kind { kPort, kVirtualFunction, kUsb };
    std::string name;       // "eth0", or "mlx5_0 port 1" of InfiniBand
    std::string full_name;  // of the card
    std::string driver;
    DevicePlace place;
    Kind kind = Kind::kPort;
    bool infiniband = false;
    bool up = true;
    std::optional<std::int64_t> mbps;
    std::int64_t mtu = 0;  // 0 if not told
  };

  std::string host;
  std::string arch;    // as NCCL writes it: "x86_64", "arm64", "ppc64"
  std::string vendor;  // of the CPUs
  int family = 0;
  int model = 0;
  std::vector<Numa> numas;       // by number
  std::vector<Switch> switches;  // those above before those below
  std::vector<Gpu> gpus;         // that NVML lists, in its order
  std::vector<Nic> nics;
  /// GPUs of NVIDIA on PCI, whether or not a driver shows them to this process.
  std::vector<DevicePlace> gpu_devices;
  std::string driver;     // of the GPUs: "550.54.15"; empty without NVML
  std::string no_driver;  // why there is none, in words
};

}  // namespace weir::real
