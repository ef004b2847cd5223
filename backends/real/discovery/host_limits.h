// What the system lets this process have, as far as runs need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/units.h"

namespace weir::real {

struct HostLimits {
  int cpus = 0;  // that this process may use
  int cpus_present = 0;
  std::optional<double> cpu_quota;         // in CPUs, where a control group has one
  Bytes memory;                            // that is there to be had
  std::optional<Bytes> locked;             // how much may be locked; none if there is no limit
  std::optional<std::int64_t> files;       // how many may be open; none if there is no limit
  std::optional<std::int64_t> files_most;  // as the process itself may set it
  std::string huge_pages;     // "always", "madvise" or "never"; empty if the kernel does not tell
  int iommus = 0;             // that the kernel uses
  bool iommu_passes = false;  // whether it was told to let devices see memory as it is (iommu=pt)
};

/// Of this process, and of the system whose /sys and /proc these folders are.
HostLimits read_limits(const std::string& sysfs = "/sys", const std::string& proc = "/proc");

}  // namespace weir::real
