#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/real/discovery/checks.h"

namespace weir::real {
namespace {

constexpr int kHopper = 90;

std::string named(const HostParts& parts, std::size_t gpu) {
  return fmt::format("GPU {} ({})", gpu, parts.gpus[gpu].place.id);
}

Finding check_driver(const HostParts& parts) {
  const std::size_t devices = parts.gpu_devices.size();
  if (parts.driver.empty() && parts.gpus.empty()) {
    if (devices == 0) return {"gpus", Grade::kNote, "this host has no NVIDIA GPU", ""};
    return {
        "gpus", Grade::kWarning,
        fmt::format("{} NVIDIA GPUs on PCI, but none can be used: {}", devices, parts.no_driver),
        "install NVIDIA's driver, or give the container its GPUs (--gpus all); nvidia-smi must list them"};
  }
  std::set<std::string> names;
  for (const HostParts::Gpu& gpu : parts.gpus) names.insert(gpu.name);
  Finding finding{"gpus", Grade::kOk,
                  fmt::format("{} ({}), driver {}", parts.gpus.size(), fmt::join(names, ", "), parts.driver),
                  ""};
  if (parts.gpus.empty()) {
    finding.grade = devices > 0 ? Grade::kWarning : Grade::kNote;
    finding.found = fmt::format("driver {} lists no GPU; on PCI there are {}", parts.driver, devices);
    if (devices > 0) finding.remedy = "see dmesg for messages of NVRM";
  } else if (devices > parts.gpus.size()) {
    finding.grade = Grade::kNote;
    finding.found += fmt::format("; on PCI there are {}", devices);
    finding.remedy = "to use all of them, give the container all GPUs";
  }
  return finding;
}

Findings check_pcie(const HostParts& parts) {
  Findings findings;
  for (std::size_t i = 0; i < parts.gpus.size(); ++i) {
    const DevicePlace& place = parts.gpus[i].place;
    const bool known = !place.own.speed.empty() && place.own.width > 0;
    if (known && narrower(place.own, place.link) != place.own) {
      findings.push_back(
          {"pcie", Grade::kWarning,
           fmt::format("{} supports {} x{}, but its slot only {} x{}", named(parts, i), place.own.speed,
                       place.own.width, place.link.speed, place.link.width),
           "put it into a matching slot; in a virtual machine, the bridge may report too little"});
    }
    if (place.lanes_now > 0 && place.lanes_now < place.link.width) {
      findings.push_back(
          {"pcie", Grade::kWarning,
           fmt::format("{} uses {} of {} lanes", named(parts, i), place.lanes_now, place.link.width),
           "reseat the card or its riser"});
    }
  }
  if (findings.empty() && !parts.gpus.empty()) {
    const PcieLink& link = parts.gpus.front().place.link;
    findings.push_back({"pcie", Grade::kOk,
                        link.speed.empty()
                            ? "no GPU reports its link"
                            : fmt::format("GPUs have their fastest link: {} x{}", link.speed, link.width),
                        ""});
  }
  return findings;
}

Findings check_nvlinks(const HostParts& parts) {
  Findings findings;
  std::size_t most = 0;
  int down = 0;
  for (const HostParts::Gpu& gpu : parts.gpus) {
    most = std::max(most, gpu.nvlinks.size());
    down += gpu.nvlinks_down;
  }
  if (most == 0) {
    if (down > 0 && parts.gpus.size() > 1)
      findings.push_back(
          {"nvlink", Grade::kNote, "GPUs can have NVLinks, but none is up",
           "fine if no bridge or switch joins them; otherwise see nvidia-smi nvlink --status"});
    return findings;
  }
  for (std::size_t i = 0; i < parts.gpus.size(); ++i) {
    const HostParts::Gpu& gpu = parts.gpus[i];
    if (gpu.nvlinks.size() == most && gpu.nvlinks_down == 0) continue;
    findings.push_back({"nvlink", Grade::kWarning,
                        fmt::format("{} has {} NVLinks up and {} down; others have up to {}", named(parts, i),
                                    gpu.nvlinks.size(), gpu.nvlinks_down, most),
                        "see nvidia-smi nvlink --status, and whether nvidia-fabricmanager runs"});
  }
  if (findings.empty())
    findings.push_back({"nvlink", Grade::kOk, fmt::format("{} per GPU, all up", most), ""});
  return findings;
}

Findings check_modes(const HostParts& parts, const HostLimits& limits) {
  Findings findings;
  for (std::size_t i = 0; i < parts.gpus.size(); ++i) {
    if (!parts.gpus[i].mig) continue;
    findings.push_back(
        {"mig", Grade::kWarning,
         fmt::format("{} is split into instances (MIG), which reach no other GPU", named(parts, i)),
         fmt::format("as root: nvidia-smi -i {} -mig 0", i)});
  }
  if (limits.iommus > 0 && !limits.iommu_passes) {
    findings.push_back({"iommu", Grade::kNote,
                        fmt::format("{} on: PCIe transfers between GPUs, or from GPUs to NICs, may take a "
                                    "detour (GPUDirect)",
                                    limits.iommus),
                        "boot your own host with iommu=pt; virtual machines need their IOMMU"});
  } else {
    findings.push_back(
        {"iommu", Grade::kOk, limits.iommus > 0 ? "on, but passes devices through (iommu=pt)" : "off", ""});
  }
  return findings;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Drivers run programs built with their own major version, even a later minor one.
Finding check_versions(const CudaVersions& versions) {
  if (versions.driver == 0)
    return {"cuda", Grade::kWrong,
            fmt::format("built with {}, but CUDA finds no driver", version_text(versions.built)),
            "install libcuda.so.1, which comes with the driver, or give the container "
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility"};
  Finding finding{"cuda", Grade::kOk,
                  fmt::format("built with {}, the driver supports {}", version_text(versions.built),
                              version_text(versions.driver)),
                  ""};
  if (versions.driver >= versions.built) return finding;
  const bool runs = versions.driver / 1000 == versions.built / 1000;
  finding.grade = runs ? Grade::kNote : Grade::kWrong;
  finding.remedy = runs ? "works, because the major versions are equal; a driver as new as CUDA is safer"
                        : fmt::format("install a driver for CUDA {} or later, or build with an older CUDA",
                                      version_text(versions.built));
  return finding;
}

Finding check_visible(const HostParts& parts, const std::vector<std::string>& ids) {
  Finding finding{"visible gpus", Grade::kOk, fmt::format("{} of {}", ids.size(), parts.gpus.size()), ""};
  if (ids.size() < parts.gpus.size()) {
    finding.grade = Grade::kNote;
    finding.remedy = "CUDA_VISIBLE_DEVICES hides the others from this process";
  }
  return finding;
}

Finding check_peers(const std::vector<std::string>& ids, const GpuState& state) {
  if (!state.apart)
    return {"peers", Grade::kWrong, state.apart.error().text, "see dmesg for messages of NVRM"};
  const std::size_t pairs = ids.size() * (ids.size() - 1);
  if (state.apart->empty()) return {"peers", Grade::kOk, "each GPU reaches the memory of all others", ""};
  const auto [from, into] = state.apart->front();
  return {"peers", Grade::kWarning,
          fmt::format("{} of {} paths between GPUs go through host memory, such as from {} to {}",
                      state.apart->size(), pairs, from, into),
          "on PCIe: disable ACS on the bridges, or the IOMMU; only GPUs of one kind reach each other"};
}

bool switched(const HostParts& parts) {
  return parts.gpus.size() > 1 &&
         std::all_of(parts.gpus.begin(), parts.gpus.end(), [](const HostParts::Gpu& gpu) {
           return gpu.capability >= kHopper &&
                  std::any_of(gpu.nvlinks.begin(), gpu.nvlinks.end(), [](const HostParts::Nvlink& link) {
                    return link.target == HostParts::Nvlink::Target::kSwitch;
                  });
         });
}

Finding check_nccl(const GpuState& state, std::size_t gpus) {
  if (state.nccl) return {"nccl", Grade::kOk, *state.nccl, ""};
  return {"nccl", gpus > 1 ? Grade::kWrong : Grade::kNote, state.nccl.error().text,
          "install libnccl2, or put its folder into LD_LIBRARY_PATH; groups of several GPUs need it"};
}

}  // namespace

Findings check_gpus(const HostParts& parts, const HostLimits& limits) {
  Findings findings = {check_driver(parts)};
  if (parts.gpus.empty()) return findings;
  for (const Findings& more : {check_pcie(parts), check_nvlinks(parts), check_modes(parts, limits)})
    findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

Findings check_cuda(const HostParts& parts, const GpuState& state) {
  if (!state.versions) {
    if (parts.gpus.empty()) return {};
    return {{"cuda", Grade::kWarning, "this weir was built without CUDA, so --gpus cannot use the GPUs",
             "install CUDA and NCCL (nvcc, nccl.h), and build again"}};
  }
  if (parts.gpus.empty()) return {};
  Findings findings = {check_versions(*state.versions)};
  if (!state.ids) {
    findings.push_back({"visible gpus", Grade::kWrong, state.ids.error().text,
                        "nvidia-smi must list the GPUs, and CUDA_VISIBLE_DEVICES must not hide them all"});
    return findings;
  }
  findings.push_back(check_visible(parts, *state.ids));
  if (state.ids->size() > 1) findings.push_back(check_peers(*state.ids, state));
  findings.push_back(state.pinned
                         ? Finding{"pinned memory", Grade::kOk, "64 MiB could be pinned", ""}
                         : Finding{"pinned memory", Grade::kWrong, state.pinned.error().text,
                                   "free memory, or raise the container's limit: copies need pinned memory"});
  findings.push_back(check_nccl(state, state.ids->size()));
  if (state.nccl && switched(parts))
    findings.push_back(
        {"nvls", Grade::kNote,
         "NCCL may sum in these GPUs' switches (NVLS), which topologies do not model: collectives "
         "in a machine may be faster than predicted",
         "NCCL_NVLS_ENABLE=0 makes them as predicted"});
  return findings;
}

}  // namespace weir::real
