// The GPUs of one machine: which devices of this host they are, and their memory. Nobody outside this folder
// sees CUDA; without it there are no GPUs, which is told.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// How many GPUs this process can use. Fails, saying why, where that is none: no driver, or no CUDA in this
/// build.
Result<int> gpu_count();

/// A point in what a device has been told to do: what follows may wait for it.
class GpuMoment {
 public:
  /// After all that has been put on the stream (a cudaStream_t; null is the default one) so far. Never
  /// waits.
  static Result<std::unique_ptr<GpuMoment>> record(int device, void* stream);
  GpuMoment(const GpuMoment&) = delete;
  GpuMoment& operator=(const GpuMoment&) = delete;
  ~GpuMoment();

  /// A cudaEvent_t.
  void* event() const { return event_; }

 private:
  explicit GpuMoment(void* event) : event_(event) {}
  void* event_;
};

/// Has the stream of the device copy that many bytes of its memory. Never waits.
Result<void> copy_in_stream(int device, void* stream, void* into, const void* from, Bytes size);

/// Memory of a GPU as the kernel hands it to other devices, which begins at `offset` of it.
struct DmaBuf {
  Descriptor descriptor;
  std::uint64_t offset = 0;
};

/// A resource: memory goes back when it ends. One thread at a time, but any thread may copy.
class Gpus {
 public:
  /// The machine's GPU i is the host's device devices[i], all different. Fails if there is no such device.
  static Result<std::unique_ptr<Gpus>> open(const std::vector<int>& devices);
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;
  ~Gpus();

  int count() const { return static_cast<int>(devices_.size()); }
  /// The host's number of the machine's GPU.
  int device(int gpu) const { return devices_[static_cast<std::size_t>(gpu)]; }

  /// Zeroed memory of that GPU, at least one byte, as long as this lives. The processor must not touch it.
  Result<std::byte*> allocate(int gpu, Bytes size);
  /// Has copies between GPUs and this memory of the process take no detour, until unpin(), before which the
  /// memory must not go.
  static Result<void> pin(std::span<std::byte> memory);
  static void unpin(std::span<std::byte> memory);

  /// Of memory that was allocated here. Fails where the driver or the kernel hands out none.
  static Result<DmaBuf> dma_buf(std::span<std::byte> memory);
  /// Has that GPU see, in what it does from now on, what NICs have written into its memory.
  Result<void> see_writes(int gpu) const;

  /// Copies between this process's memory and that GPU's, and waits until the bytes are there: for what need
  /// not be fast.
  Result<void> copy(int gpu, std::span<std::byte> into, std::span<const std::byte> from) const;

 private:
  explicit Gpus(std::vector<int> devices) : devices_(std::move(devices)) {}

  std::vector<int> devices_;
  std::vector<std::pair<int, std::byte*>> allocated_;  // by device
};

}  // namespace weir::real
