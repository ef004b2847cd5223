#include "backends/real/memory/gpus.h"

#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include "backends/real/memory/cuda.h"

namespace weir::real {

Result<int> gpu_count() {
  int count = 0;
  int driver = 0;  // stays 0 without a driver, which CUDA calls too old
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return failure(
        "this host has no NVIDIA GPU, or no driver for it; weir doctor says which. Run without GPUs, or "
        "install "
        "NVIDIA's driver, or give the container its GPUs (--gpus all)");
  }
  if (auto asked = tried(cudaGetDeviceCount(&count), "this host's GPUs cannot be used"); !asked)
    return tl::unexpected(asked.error());
  if (count == 0) return failure("this host has no GPU");
  return count;
}

Result<std::unique_ptr<GpuMoment>> GpuMoment::record(int device, void* stream) {
  int before = 0;  // the caller's device, restored below
  auto well = tried(cudaGetDevice(&before), "a GPU");
  if (well) well = tried(cudaSetDevice(device), fmt::format("device {}", device));
  cudaEvent_t event = nullptr;
  if (well) well = tried(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
  if (well) well = tried(cudaEventRecord(event, static_cast<cudaStream_t>(stream)), "an event");
  (void)cudaSetDevice(before);
  std::unique_ptr<GpuMoment> moment(new GpuMoment(event));
  if (!well) return tl::unexpected(well.error());
  return moment;
}

Result<void> copy_in_stream(int device, void* stream, void* into, const void* from, Bytes size) {
  int before = 0;  // the caller's device, restored below
  auto well = tried(cudaGetDevice(&before), "a GPU");
  if (well) well = tried(cudaSetDevice(device), fmt::format("device {}", device));
  if (well)
    well = tried(cudaMemcpyAsync(into, from, static_cast<std::size_t>(size.count()), cudaMemcpyDeviceToDevice,
                                 static_cast<cudaStream_t>(stream)),
                 "a copy");
  (void)cudaSetDevice(before);
  return well;
}

GpuMoment::~GpuMoment() {
  if (event_ != nullptr) (void)cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}

Result<std::unique_ptr<Gpus>> Gpus::open(const std::vector<int>& devices) {
  const auto count = gpu_count();
  if (!count) return tl::unexpected(count.error());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 || devices[i] >= *count) {
      return failure(
          fmt::format("device {} is assigned to GPU {} of the machine, but this host has {} devices",
                      devices[i], i, *count));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[j] == devices[i])
        return failure(
            fmt::format("device {} is assigned to both GPU {} and GPU {} of the machine", devices[i], j, i));
    }
  }
  std::unique_ptr<Gpus> gpus(new Gpus(devices));
  for (const int device : devices) {
    // Makes the device's context now. It takes a while, which the first op should not pay for.
    auto ready = tried(cudaSetDevice(device), fmt::format("device {}", device));
    if (ready) ready = tried(cudaFree(nullptr), fmt::format("device {}", device));
    if (!ready) return tl::unexpected(ready.error());
  }
  return gpus;
}

Gpus::~Gpus() {
  for (const auto& [device, memory] : allocated_) {
    (void)cudaSetDevice(device);
    (void)cudaFree(memory);
  }
}

Result<std::byte*> Gpus::allocate(int gpu, Bytes size) {
  const int device = this->device(gpu);
  void* memory = nullptr;
  const auto bytes = static_cast<std::size_t>(size.count());
  const std::string what = fmt::format("{} bytes of device {}", size.count(), device);
  if (auto set = tried(cudaSetDevice(device), what); !set) return tl::unexpected(set.error());
  if (auto got = tried(cudaMalloc(&memory, bytes), what); !got) return tl::unexpected(got.error());
  allocated_.emplace_back(device, static_cast<std::byte*>(memory));
  auto zeroed = tried(cudaMemset(memory, 0, bytes), what);
  if (zeroed) zeroed = tried(cudaDeviceSynchronize(), what);
  if (!zeroed) return tl::unexpected(zeroed.error());
  return static_cast<std::byte*>(memory);
}

Result<void> Gpus::pin(std::span<std::byte> memory) {
  return tried(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterPortable),
               fmt::format("{} bytes of host memory cannot be pinned", memory.size()));
}

void Gpus::unpin(std::span<std::byte> memory) { (void)cudaHostUnregister(memory.data()); }

namespace {

// Functions of the driver, which is already loaded if there is a GPU.
struct Driver {
  decltype(&::cuMemGetHandleForAddressRange) handle_of = nullptr;
  decltype(&::cuPointerSetAttribute) set_attribute = nullptr;

  Driver() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    handle_of = reinterpret_cast<decltype(handle_of)>(  // NOLINT: what dlsym gives
        ::dlsym(library, "cuMemGetHandleForAddressRange"));
    set_attribute = reinterpret_cast<decltype(set_attribute)>(  // NOLINT: as above
        ::dlsym(library, "cuPointerSetAttribute"));
  }
};

}  // namespace

// Exports whole pages around the memory, since memory of GPUs is mapped in larger pages.
Result<DmaBuf> Gpus::dma_buf(std::span<std::byte> memory) {
  static const Driver driver;
  if (driver.set_attribute == nullptr) return failure("this host has no GPU driver");
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<CUdeviceptr>(memory.data());  // NOLINT: the driver's word for it
  const CUdeviceptr begin = address / page * page;
  const std::uint64_t size = (address + memory.size() - begin + page - 1) / page * page;
  // Otherwise copies could return before all bytes have arrived, and race with NICs.
  unsigned int in_order = 1;
  CUresult status = driver.set_attribute(&in_order, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address);
  if (driver.handle_of == nullptr) return failure("this GPU driver cannot export memory as DMA-BUF");
  int descriptor = -1;
  if (status == CUDA_SUCCESS)
    status = driver.handle_of(&descriptor, begin, size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (status == CUDA_SUCCESS) return DmaBuf{Descriptor(descriptor), address - begin};
  return failure(fmt::format("cannot export {} bytes of a GPU's memory as DMA-BUF: CUDA error {}",
                             memory.size(), static_cast<int>(status)));
}

// Does nothing if the GPU sees such writes anyway.
Result<void> Gpus::see_writes(int gpu) const {
  auto done = tried(cudaSetDevice(device(gpu)), "a GPU");
  if (!done) return done;
  return tried(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                                  cudaFlushGPUDirectRDMAWritesToOwner),
               "what a NIC has written into a GPU's memory");
}

Result<void> Gpus::copy(int gpu, std::span<std::byte> into, std::span<const std::byte> from) const {
  WEIR_CHECK(into.size() == from.size(), into.size(), from.size());
  auto done = tried(cudaSetDevice(device(gpu)), "a GPU");
  if (done) done = tried(cudaMemcpy(into.data(), from.data(), from.size(), cudaMemcpyDefault), "a copy");
  // For pageable memory it may return before all bytes have arrived.
  return done ? tried(cudaStreamSynchronize(nullptr), "a copy") : done;
}

}  // namespace weir::real
