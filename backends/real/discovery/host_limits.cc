#include "backends/real/discovery/host_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backends/real/discovery/sysfs.h"
#include "backends/real/memory/pages.h"
#include "backends/real/process/threads.h"

namespace weir::real {
namespace {

std::optional<std::int64_t> limit(rlim_t value) {
  return value == RLIM_INFINITY ? std::nullopt : std::optional(static_cast<std::int64_t>(value));
}

/// The word in brackets in "always [madvise] never".
std::string chosen(const std::string& line) {
  const std::size_t from = line.find('[');
  const std::size_t end = line.find(']');
  return from == std::string::npos || end == std::string::npos ? "" : line.substr(from + 1, end - from - 1);
}

/// "200000 100000" means two CPUs; "max 100000" means no limit.
std::optional<double> quota(const std::string& line) {
  std::istringstream words(line);
  double time = 0;
  double period = 0;
  return words >> time >> period && period > 0 ? std::optional(time / period) : std::nullopt;
}

bool has_word(const std::string& line, const std::string& wanted) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word == wanted) return true;
  }
  return false;
}

// Whether the process has CAP_IPC_LOCK, which removes the limit.
bool may_lock_all(const std::string& proc) {
  constexpr int kIpcLock = 14;
  std::ifstream file(proc + "/self/status");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t capabilities = 0;
    if (words >> name >> std::hex >> capabilities && name == "CapEff:")
      return (capabilities >> kIpcLock & 1) != 0;
  }
  return false;
}

}  // namespace

HostLimits read_limits(const std::string& sysfs, const std::string& proc) {
  const Sysfs tree(sysfs);
  HostLimits limits;
  limits.cpus = static_cast<int>(allowed_cpus().size());
  limits.cpus_present = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  limits.cpu_quota = quota(tree.line("fs/cgroup/cpu.max"));
  limits.memory = available_memory();
  rlimit own = {};
  if (getrlimit(RLIMIT_MEMLOCK, &own) == 0) {
    if (const auto locked = limit(own.rlim_cur); locked && !may_lock_all(proc))
      limits.locked = Bytes(*locked);
  }
  if (getrlimit(RLIMIT_NOFILE, &own) == 0) {
    limits.files = limit(own.rlim_cur);
    limits.files_most = limit(own.rlim_max);
  }
  limits.huge_pages = chosen(tree.line("kernel/mm/transparent_hugepage/enabled"));
  limits.iommus = static_cast<int>(tree.names("class/iommu").size());
  std::ifstream file(proc + "/cmdline");
  std::string command;
  std::getline(file, command);
  limits.iommu_passes = has_word(command, "iommu=pt");
  return limits;
}

}  // namespace weir::real
