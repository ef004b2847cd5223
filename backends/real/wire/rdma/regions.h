// A node's buffers as an RDMA device knows them, and how peers name what they write into.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/wire/rdma/device.h"

namespace weir::real::rdma {

/// Where a replica lies in its machine's process, and the keys of its regions: one for every kRegion bytes.
struct Landing {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> keys;
};

/// Devices have a limit for one region, and a write is within one.
constexpr Bytes kRegion(256 << 20);

/// How many regions a replica of so many bytes has.
std::size_t regions_of(Bytes size);

/// All that messages leave from or land in, on GPUs too, registered once, for as long as this lives. Peers
/// may write where messages land and nowhere else. Any thread may ask.
class Regions {
 public:
  /// Fails if the device refuses, as where the limit of locked memory is too low, or does not reach memory of
  /// GPUs. The buffers outlive the
  /// regions.
  static Result<std::shared_ptr<const Regions>> make(std::shared_ptr<const Device> device, const Plan& plan,
                                                     MachineId machine, const Buffers& buffers);
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  const Device& device() const { return *device_; }
  std::shared_ptr<const Device> shared_device() const { return device_; }

  /// Of the bytes that the span begins with, those of one region; and its key.
  struct Piece {
    std::span<const std::byte> bytes;
    std::uint32_t key;
    bool on_gpu;
  };
  Piece first_of(std::span<const std::byte> bytes) const;

  Landing landing(const Replica& replica) const;

 private:
  struct Home {
    std::span<std::byte> bytes;
    bool on_gpu = false;
    std::vector<ibv_mr*> regions;
  };

  explicit Regions(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  Result<void> add(const Replica& replica, const Buffers& buffers, std::span<std::byte> bytes, bool remote);
  Result<ibv_mr*> enter(std::span<std::byte> part, int access) const;
  /// Enters memory of a GPU. `part` begins at the memory's byte `at`.
  Result<ibv_mr*> enter_gpu(const Result<DmaBuf>& gpu, std::span<std::byte> part, std::size_t at,
                            int access) const;

  std::shared_ptr<const Device> device_;
  std::map<Replica, Home> homes_;
  std::map<const std::byte*, const Home*> by_address_;
};

}  // namespace weir::real::rdma
