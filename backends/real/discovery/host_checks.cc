#include <fmt/format.h>

#include <algorithm>

#include "backends/real/discovery/checks.h"
#include "core/base/units_text.h"
#include "core/formats/nccl/nccl_rates.h"

namespace weir::real {
namespace {

constexpr Bytes kLittleMemory(std::int64_t{1} << 30);
constexpr int kMachines = 64;    // of a large job
constexpr int kFilesOfLane = 2;  // control and data, for a peer on a NIC
constexpr int kOtherFiles = 100;
constexpr std::int64_t kFastMbps = 25'000;  // from this speed on, small packets cost too much CPU
constexpr std::int64_t kUsualMtu = 1500;

Finding check_cpus(const HostParts& parts, const HostLimits& limits) {
  Finding finding{"cpus", Grade::kOk, "", ""};
  finding.found = fmt::format("{} of {} CPUs for this process, NUMA nodes: {}", limits.cpus,
                              limits.cpus_present, parts.numas.size());
  if (limits.cpus < limits.cpus_present) {
    finding.grade = Grade::kNote;
    finding.remedy = "a CPU mask (taskset, a container's cpuset) hides the others";
  }
  if (limits.cpu_quota && *limits.cpu_quota < limits.cpus) {
    finding.grade = Grade::kWarning;
    finding.found += fmt::format("; its control group has the CPU time of {:.1f}", *limits.cpu_quota);
    finding.remedy =
        "raise the quota (cpu.max, a container's --cpus): a process without CPU time delays all machines";
  }
  return finding;
}

Finding check_memory(const HostLimits& limits) {
  Finding finding{"memory", Grade::kOk, fmt::format("{} available", rounded(limits.memory)), ""};
  if (limits.memory < kLittleMemory) {
    finding.grade = Grade::kWarning;
    finding.remedy = "free some: a run takes a few times the model's size";
  }
  return finding;
}

Finding check_locked(const HostLimits& limits) {
  if (!limits.locked) return {"locked memory", Grade::kOk, "no limit", ""};
  return {"locked memory", Grade::kNote,
          fmt::format("{} may be locked: enough for TCP and GPUs, but not for RDMA", rounded(*limits.locked)),
          "before RDMA: ulimit -l unlimited (LimitMEMLOCK=infinity of a service)"};
}

Finding check_huge_pages(const HostLimits& limits) {
  if (limits.huge_pages == "always" || limits.huge_pages == "madvise")
    return {"huge pages", Grade::kOk, fmt::format("'{}'", limits.huge_pages), ""};
  return {"huge pages", Grade::kNote,
          limits.huge_pages.empty() ? "the kernel has no transparent ones"
                                    : fmt::format("'{}': sums and copies are slower", limits.huge_pages),
          "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding check_files(const HostParts& parts, const HostLimits& limits) {
  const auto nics = std::max<std::int64_t>(
      1,
      std::count_if(parts.nics.begin(), parts.nics.end(), [](const HostParts::Nic& nic) { return nic.up; }));
  const std::int64_t needed = (kMachines - 1) * nics * kFilesOfLane + kOtherFiles;
  Finding finding{"open files", Grade::kOk,
                  limits.files ? fmt::format("{} at most", *limits.files) : std::string("no limit"), ""};
  if (limits.files && *limits.files < needed) {
    finding.grade = Grade::kWarning;
    finding.found += fmt::format("; in a job of {} machines each needs about {}", kMachines, needed);
    const bool own = !limits.files_most || *limits.files_most >= needed;
    finding.remedy = fmt::format("ulimit -n {}{}", needed, own ? "" : ", once root raises the hard limit");
  }
  return finding;
}

std::string link_text(const PcieLink& link) {
  return fmt::format("{} x{}", link.speed.empty() ? "?" : link.speed, link.width);
}

Finding check_nic(const HostParts::Nic& nic) {
  Finding finding{"nic " + nic.name, Grade::kOk, "", ""};
  const std::string card = nic.full_name.empty() ? nic.driver : nic.full_name;
  const std::string named = card.empty() ? "" : fmt::format(" ({})", card);
  if (!nic.up) {
    finding.grade = Grade::kNote;
    finding.found = "down" + named;
    finding.remedy = "plug in its cable, or: ip link set up; discover leaves it out while it is down";
    return finding;
  }
  finding.found = nic.mbps ? rounded(nccl::network_rate(*nic.mbps)) : std::string("up, but reports no speed");
  if (nic.mtu > 0) finding.found += fmt::format(", MTU {}", nic.mtu);
  if (nic.place.link.width > 0) finding.found += ", PCIe " + link_text(nic.place.link);
  finding.found += named;
  if (!nic.mbps) {
    finding.grade = Grade::kNote;
    finding.remedy = "measure it between two hosts, and pass it: weir discover --nic-rate RATE";
    return finding;
  }
  if (nic.mtu > 0 && nic.mtu <= kUsualMtu && *nic.mbps >= kFastMbps) {
    finding.grade = Grade::kNote;
    finding.remedy = fmt::format(
        "ip link set dev {} mtu 9000, if all hosts and switches do the same: it costs "
        "less CPU",
        nic.name);
  }
  const PcieLink& link = nic.place.link;
  const auto pcie = nccl::pcie_rate(link.speed, link.width);
  if (pcie && link.width > 0 && *pcie < nccl::network_rate(*nic.mbps)) {
    finding.grade = Grade::kWarning;
    finding.found += fmt::format("; its PCIe link carries only {}", rounded(*pcie));
    finding.remedy = "put the card into a faster slot";
  }
  return finding;
}

}  // namespace

Findings check_host(const HostParts& parts, const HostLimits& limits) {
  return {check_cpus(parts, limits), check_memory(limits), check_locked(limits), check_huge_pages(limits),
          check_files(parts, limits)};
}

Findings check_nics(const HostParts& parts) {
  Findings findings;
  bool some = false;
  for (const HostParts::Nic& nic : parts.nics) {
    if (nic.kind != HostParts::Nic::Kind::kPort) continue;
    findings.push_back(check_nic(nic));
    some = some || nic.up;
  }
  if (!some) {
    findings.push_back({"nics", Grade::kWarning, "none is up: no other host can be reached",
                        "see ip link; for a topology, use weir discover --nic-rate"});
  }
  return findings;
}

}  // namespace weir::real
