#include "backends/real/discovery/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace weir::real {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

struct Close {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

template <class Function>
bool find(const Library& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library.get(), name));  // NOLINT: what dlsym gives
  return function != nullptr;
}

Result<nvml::Functions> functions_of(const Library& library) {
  nvml::Functions nvml{};
  const bool all = find(library, "nvmlInit_v2", nvml.init) && find(library, "nvmlShutdown", nvml.shutdown) &&
                   find(library, "nvmlErrorString", nvml.error_string) &&
                   find(library, "nvmlSystemGetDriverVersion", nvml.driver_version) &&
                   find(library, "nvmlDeviceGetCount_v2", nvml.count) &&
                   find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.by_index) &&
                   find(library, "nvmlDeviceGetPciInfo_v3", nvml.pci_info);
  if (!all) return failure(fmt::format("{} is older than NVML 9; install a newer driver", kLibrary));
  (void)find(library, "nvmlDeviceGetName", nvml.name);
  (void)find(library, "nvmlDeviceGetMemoryInfo", nvml.memory);
  (void)find(library, "nvmlDeviceGetCudaComputeCapability", nvml.capability);
  (void)find(library, "nvmlDeviceGetNvLinkState", nvml.nvlink_state);
  (void)find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.nvlink_pci);
  (void)find(library, "nvmlDeviceGetNvLinkRemoteDeviceType", nvml.nvlink_type);
  (void)find(library, "nvmlDeviceGetMaxPcieLinkGeneration", nvml.pcie_generation);
  (void)find(library, "nvmlDeviceGetMaxPcieLinkWidth", nvml.pcie_width);
  (void)find(library, "nvmlDeviceGetMigMode", nvml.mig_mode);
  return nvml;
}

/// Calls a function if the library has it. Returns whether it succeeded.
template <class... Parameters, class... Arguments>
bool asked(nvml::Status (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr && function(arguments...) == nvml::kSuccess;
}

/// NVML writes "00000000:3B:00.0"; this is Linux's "0000:3b:00.0".
std::string linux_id(std::string id) {
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t colon = id.find(':');
  if (colon == 8 && id.starts_with("0000")) id.erase(0, 4);
  return id;
}

template <std::size_t Size>
std::string text_in(const char (&characters)[Size]) {
  return {characters, static_cast<std::size_t>(std::find(characters, characters + Size, '\0') - characters)};
}

/// The fastest link that both the device and its slot support.
PcieLink pcie_of(const nvml::Functions& nvml, nvml::Device device) {
  constexpr std::array<const char*, 6> kSpeeds = {"2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",
                                                  "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};
  PcieLink link;
  unsigned generation = 0;
  if (asked(nvml.pcie_generation, device, &generation) && generation >= 1 && generation <= kSpeeds.size())
    link.speed = kSpeeds[generation - 1];
  unsigned width = 0;
  if (asked(nvml.pcie_width, device, &width) && width <= 32) link.width = static_cast<int>(width);
  return link;
}

void add_nvlinks(const nvml::Functions& nvml, nvml::Device device, HostParts::Gpu& gpu) {
  using Target = HostParts::Nvlink::Target;
  for (unsigned number = 0; number < nvml::kMostNvlinks; ++number) {
    int up = 0;
    if (!asked(nvml.nvlink_state, device, number, &up)) continue;  // the GPU has no such link
    if (up == 0) {
      ++gpu.nvlinks_down;
      continue;
    }
    HostParts::Nvlink link;
    int type = -1;
    if (asked(nvml.nvlink_type, device, number, &type)) {
      if (type == nvml::kRemoteGpu) link.target = Target::kGpu;
      if (type == nvml::kRemoteCpu) link.target = Target::kCpu;
      if (type == nvml::kRemoteSwitch) link.target = Target::kSwitch;
    }
    nvml::PciInfo remote{};
    if (link.target == Target::kGpu && asked(nvml.nvlink_pci, device, number, &remote))
      link.id = linux_id(text_in(remote.bus_id));
    gpu.nvlinks.push_back(link);
  }
}

HostParts::Gpu gpu_of(const nvml::Functions& nvml, nvml::Device device) {
  HostParts::Gpu gpu;
  nvml::PciInfo pci{};
  if (asked(nvml.pci_info, device, &pci)) gpu.place.id = linux_id(text_in(pci.bus_id));
  char name[nvml::kNameSize] = {};
  if (asked(nvml.name, device, name, nvml::kNameSize)) gpu.name = text_in(name);
  nvml::Memory memory{};
  if (asked(nvml.memory, device, &memory)) gpu.memory = Bytes(static_cast<std::int64_t>(memory.total));
  int major = 0;
  int minor = 0;
  if (asked(nvml.capability, device, &major, &minor)) gpu.capability = 10 * major + minor;
  unsigned mig = 0;
  unsigned pending = 0;
  gpu.mig = asked(nvml.mig_mode, device, &mig, &pending) && mig != 0;
  gpu.place.link = gpu.place.own = pcie_of(nvml, device);
  add_nvlinks(nvml, device, gpu);
  return gpu;
}

}  // namespace

Result<NvmlReading> read_nvml() {
  const Library library(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL));
  if (!library) return failure(fmt::format("{} is missing; it comes with NVIDIA's driver", kLibrary));
  const auto nvml = functions_of(library);
  if (!nvml) return tl::unexpected(nvml.error());
  if (const nvml::Status status = nvml->init(); status != nvml::kSuccess)
    return failure(fmt::format("NVIDIA's driver does not answer: {}", nvml->error_string(status)));
  NvmlReading reading;
  char version[nvml::kVersionSize] = {};
  if (nvml->driver_version(version, nvml::kVersionSize) == nvml::kSuccess) reading.driver = text_in(version);
  unsigned count = 0;
  const nvml::Status counted = nvml->count(&count);
  for (unsigned i = 0; i < count && counted == nvml::kSuccess; ++i) {
    nvml::Device device = nullptr;
    if (nvml->by_index(i, &device) == nvml::kSuccess) reading.gpus.push_back(gpu_of(*nvml, device));
  }
  (void)nvml->shutdown();
  if (counted != nvml::kSuccess)
    return failure(fmt::format("NVIDIA's driver does not list its GPUs: {}", nvml->error_string(counted)));
  return reading;
}

void add_gpus(const Result<NvmlReading>& reading, HostParts& parts) {
  if (!reading) {
    parts.no_driver = reading.error().text;
    return;
  }
  parts.driver = reading->driver;
  for (HostParts::Gpu gpu : reading->gpus) {
    const auto place = std::find_if(parts.gpu_devices.begin(), parts.gpu_devices.end(),
                                    [&](const DevicePlace& one) { return one.id == gpu.place.id; });
    if (place != parts.gpu_devices.end()) {
      const PcieLink reported = gpu.place.link;
      gpu.place = *place;
      if (gpu.place.link == PcieLink()) gpu.place.link = gpu.place.own = reported;
    }
    parts.gpus.push_back(gpu);
  }
}

}  // namespace weir::real
