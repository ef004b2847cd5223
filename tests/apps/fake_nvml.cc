// A library with NVML's name and calling convention, for tests of programs that load NVML: declared as
// NVIDIA's reference has it, apart from our own declarations, so that a layout that is wrong there shows.
// FAKE_NVML names the machine: "switch" (two H100, one of them with an NVLink down), "pairs" (four GPUs,
// NVLinks between 0 and 1, 2 and 3), "mig" (one GPU in MIG mode), "none" (no GPU), "stuck" (a driver that
// never answers), "dead" (one that ends the process); all else is no driver.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): names are NVIDIA's
extern "C" {

struct nvmlDevice_st {
  int index;
};
typedef nvmlDevice_st* nvmlDevice_t;
enum nvmlReturn_t : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_DRIVER_NOT_LOADED = 9
};
enum nvmlEnableState_t : int { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };
enum nvmlIntNvLinkDeviceType_t : int {
  NVML_NVLINK_DEVICE_TYPE_GPU = 0x00,
  NVML_NVLINK_DEVICE_TYPE_IBMNPU = 0x01,
  NVML_NVLINK_DEVICE_TYPE_SWITCH = 0x02,
  NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 0xFF
};
struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId;
  unsigned int pciSubSystemId;
  char busId[32];
};
struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // extern "C"

namespace {

constexpr unsigned kBuses[] = {0x3c, 0x3d, 0x9b, 0xad};  // where two-sockets.xml has GPUs
nvmlDevice_st devices[] = {{0}, {1}, {2}, {3}};
int users = 0;

std::string scene() {
  const char* name = std::getenv("FAKE_NVML");
  return name == nullptr ? "" : name;
}

unsigned gpus() {
  if (scene() == "switch") return 2;
  if (scene() == "pairs") return 4;
  return scene() == "mig" ? 1 : 0;
}

void fill(nvmlPciInfo_t* pci, unsigned bus) {
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "00AB:%02X:00.0", bus);
  std::snprintf(pci->busId, sizeof pci->busId, "000000AB:%02X:00.0", bus);
  pci->domain = 0xab;
  pci->bus = bus;
  pci->pciDeviceId = 0x233010DE;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  if (scene() == "stuck") {
    for (;;) pause();
  }
  if (scene() == "dead") std::abort();
  if (gpus() == 0 && scene() != "none") return NVML_ERROR_DRIVER_NOT_LOADED;
  ++users;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() { return users-- > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED; }

const char* nvmlErrorString(nvmlReturn_t status) {
  return status == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  std::snprintf(version, length, "550.54.15");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = gpus();
  return users > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  if (index >= gpus()) return NVML_ERROR_INVALID_ARGUMENT;
  *device = &devices[index];
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  fill(pci, kBuses[device->index]);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t /*device*/, char* name, unsigned int length) {
  std::snprintf(name, length, "NVIDIA H100 80GB HBM3");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t /*device*/, nvmlMemory_t* memory) {
  *memory = {81559ULL << 20, 81000ULL << 20, 559ULL << 20};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t /*device*/, int* major, int* minor) {
  *major = scene() == "pairs" ? 7 : 9;
  *minor = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t /*device*/, unsigned int* generation) {
  *generation = 5;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t /*device*/, unsigned int* width) {
  *width = 16;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t /*device*/, unsigned int* now, unsigned int* pending) {
  *now = *pending = scene() == "mig" ? 1 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t* up) {
  const unsigned links = scene() == "switch" ? 18 : scene() == "pairs" ? 2 : 0;
  if (link >= links) return NVML_ERROR_NOT_SUPPORTED;
  *up = scene() == "switch" && device->index == 1 && link == 7 ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t /*device*/, unsigned int /*link*/,
                                                 nvmlIntNvLinkDeviceType_t* type) {
  *type = scene() == "pairs" ? NVML_NVLINK_DEVICE_TYPE_GPU : NVML_NVLINK_DEVICE_TYPE_SWITCH;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int /*link*/,
                                                 nvmlPciInfo_t* pci) {
  if (scene() != "pairs") return NVML_ERROR_NOT_SUPPORTED;
  fill(pci, kBuses[device->index ^ 1]);
  return NVML_SUCCESS;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
