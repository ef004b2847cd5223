#include "backends/real/discovery/host_limits.h"

#include "tests/backends/real/discovery/fake_sysfs.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("limits of the system are read from the files that have them", "[discovery]") {
  const FakeSysfs sysfs;
  sysfs.write("fs/cgroup/cpu.max", "150000 100000");
  sysfs.write("kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  sysfs.write("class/iommu/dmar0/name", "");
  sysfs.write("cmdline", "quiet intel_iommu=on iommu=pt");
  const HostLimits limits = read_limits(sysfs.root(), sysfs.root());
  CHECK(limits.cpu_quota == 1.5);
  CHECK(limits.huge_pages == "madvise");
  CHECK(limits.iommus == 1);
  CHECK(limits.iommu_passes);
  CHECK(limits.cpus >= 1);
  sysfs.write("self/status", "Name:\tweir\nCapEff:\t0000000000004000");  // CAP_IPC_LOCK
  CHECK_FALSE(read_limits(sysfs.root(), sysfs.root()).locked);
  const HostLimits unknown = read_limits("/nowhere", "/nowhere");
  CHECK_FALSE(unknown.cpu_quota);
  CHECK(unknown.huge_pages.empty());
  CHECK_FALSE(unknown.iommu_passes);
}

}  // namespace
}  // namespace weir::real
