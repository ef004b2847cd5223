// The parts of NVML, the library of NVIDIA's driver, that are used here. It is loaded when needed, so one
// build runs with and without a driver. NVML's header comes only with CUDA, so its few functions and structs
// are declared here, as NVIDIA documents them (NVML API Reference).
#pragma once

#include <string>
#include <vector>

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"

namespace weir::real {

/// The C interface, with NVIDIA's names.
namespace nvml {

using Device = struct OpaqueDevice*;
using Status = int;  // an enum in C

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 3;
inline constexpr unsigned kMostNvlinks = 18;  // NVML_NVLINK_MAX_LINKS
inline constexpr unsigned kNameSize = 96;     // NVML_DEVICE_NAME_V2_BUFFER_SIZE
inline constexpr unsigned kVersionSize = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE

/// nvmlPciInfo_t, for the functions with _v3 (devices) and _v2 (NVLinks).
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];  // "00000000:3B:00.0"
};

/// nvmlMemory_t, in bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlIntNvLinkDeviceType_t.
inline constexpr int kRemoteGpu = 0;
inline constexpr int kRemoteCpu = 1;  // IBM's
inline constexpr int kRemoteSwitch = 2;

/// The functions. Those after the first seven may be missing in older libraries.
struct Functions {
  Status (*init)();
  Status (*shutdown)();
  const char* (*error_string)(Status);
  Status (*driver_version)(char*, unsigned);
  Status (*count)(unsigned*);
  Status (*by_index)(unsigned, Device*);
  Status (*pci_info)(Device, PciInfo*);
  Status (*name)(Device, char*, unsigned);
  Status (*memory)(Device, Memory*);
  Status (*capability)(Device, int*, int*);
  Status (*nvlink_state)(Device, unsigned, int*);
  Status (*nvlink_pci)(Device, unsigned, PciInfo*);
  Status (*nvlink_type)(Device, unsigned, int*);
  Status (*pcie_generation)(Device, unsigned*);
  Status (*pcie_width)(Device, unsigned*);
  Status (*mig_mode)(Device, unsigned*, unsigned*);
};

}  // namespace nvml

/// What the driver reports.
struct NvmlReading {
  std::string driver;                // "550.54.15"
  std::vector<HostParts::Gpu> gpus;  // with ids and links, all that NVML knows of their places
};

/// Asks libnvidia-ml.so.1, as found by the system's loader. Fails if it is missing or no driver answers it.
/// Takes long if the driver is stuck.
Result<NvmlReading> read_nvml();

/// Adds what the driver reports to the parts: GPUs with their places on the host, or why there are none.
void add_gpus(const Result<NvmlReading>& reading, HostParts& parts);

}  // namespace weir::real
