// What the system allows this process, as far as runs need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/units.h"

namespace weir::real {

struct HostLimits {
  int cpus = 0;  // that this process may use
  int cpus_present = 0;
  std::optional<double> cpu_quota;         // in CPUs, if a control group sets one
  Bytes memory;                            // still available
  std::optional<Bytes> locked;             // how much may be locked; none: no limit
  std::optional<std::int64_t> files;       // how many may be open; none: no limit
  std::optional<std::int64_t> files_most;  // the most that the process itself can set
  std::string huge_pages;                  // "always", "madvise" or "never"; empty if the kernel does not say
  int iommus = 0;                          // in use by the kernel
  bool iommu_passes = false;               // whether devices see memory directly (iommu=pt)
};

/// The limits of this process, from the system whose /sys and /proc these folders are.
HostLimits read_limits(const std::string& sysfs = "/sys", const std::string& proc = "/proc");

}  // namespace weir::real
