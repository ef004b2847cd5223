// The GPUs of one machine: which devices of this host they are, and their memory. Code outside this folder
// does not see CUDA. A build without CUDA reports that there are no GPUs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// How many GPUs this process can use. If there are none, fails with the reason: no driver, or a build
/// without CUDA.
Result<int> gpu_count();

/// A point in the work queued on a device, which later work may wait for.
class GpuMoment {
 public:
  /// After everything queued on the stream so far (a cudaStream_t; null is the default stream). Never waits.
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

/// Queues a copy of that many bytes of the device's memory on its stream. Never waits.
Result<void> copy_in_stream(int device, void* stream, void* into, const void* from, Bytes size);

/// Memory of a GPU as the kernel exports it to other devices. It begins at `offset` of the exported file.
struct DmaBuf {
  Descriptor descriptor;
  std::uint64_t offset = 0;
};

/// A resource: frees its memory at its end. Only one thread at a time may use it, but any thread may copy.
class Gpus {
 public:
  /// The machine's GPU i is the host's device devices[i]; all must differ. Fails if there is no such device.
  static Result<std::unique_ptr<Gpus>> open(const std::vector<int>& devices);
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;
  ~Gpus();

  int count() const { return static_cast<int>(devices_.size()); }
  /// The host's number for the machine's GPU.
  int device(int gpu) const { return devices_[static_cast<std::size_t>(gpu)]; }

  /// Zeroed memory of that GPU, at least one byte, which lives as long as this object. The CPU must not touch
  /// it.
  Result<std::byte*> allocate(int gpu, Bytes size);
  /// Pins memory of the process, so that copies to and from GPUs need no staging, until unpin(). Until then
  /// the memory must stay.
  static Result<void> pin(std::span<std::byte> memory);
  static void unpin(std::span<std::byte> memory);

  /// For memory that was allocated here. Fails if the driver or the kernel cannot export it.
  static Result<DmaBuf> dma_buf(std::span<std::byte> memory);
  /// Makes what NICs have written into its memory visible to that GPU, for all work queued from now on.
  Result<void> see_writes(int gpu) const;

  /// Copies between this process's memory and that GPU's, and waits until the bytes have arrived. For copies
  /// that need not be fast.
  Result<void> copy(int gpu, std::span<std::byte> into, std::span<const std::byte> from) const;

 private:
  explicit Gpus(std::vector<int> devices) : devices_(std::move(devices)) {}

  std::vector<int> devices_;
  std::vector<std::pair<int, std::byte*>> allocated_;  // by device
};

}  // namespace weir::real
