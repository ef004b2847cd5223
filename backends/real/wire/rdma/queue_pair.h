// A reliable connection between two nodes, by which one writes into the other's memory.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "backends/real/wire/rdma/device.h"
#include "core/base/units.h"

namespace weir::real::rdma {

/// An address on the fabric: of RoCE an IP address, of InfiniBand one that the subnet gave the port.
using GidBytes = std::array<std::uint8_t, sizeof(ibv_gid)>;

/// What a queue pair's peer must know of it.
struct Endpoint {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  // number of its first packet
  std::uint16_t lid = 0;           // InfiniBand
  GidBytes gid{};
  ibv_mtu mtu = IBV_MTU_1024;
  bool ethernet = false;
};

/// Scatter-gather entries of one write; of some devices fewer.
constexpr int kMostEntries = 4;

/// One write, of bytes of one region into one region.
struct Write {
  std::span<const std::byte> from;
  std::uint32_t key = 0;  // of the region
  std::uint64_t into = 0;
  std::uint32_t peer_key = 0;
  std::optional<std::uint32_t> notice;  // for the peer, once this and all earlier writes are there
  bool on_gpu = false;                  // `from`, where no processor reads
  int entries = 1;                      // that describe it to the device, up to kMostEntries; to measure them
};

/// What has ended: this end's writes, in order, up to and including one that is reported; or a peer's write.
struct Ended {
  bool received = false;
  std::uint32_t notice = 0;  // received: of the peer's write
};

/// With a completion queue of its own. Owned by one thread at a time.
class QueuePair {
 public:
  static Result<std::unique_ptr<QueuePair>> make(std::shared_ptr<const Device> device);
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  Endpoint endpoint() const;
  /// Makes room for the notices of the peer's writes. Fails if the device takes no such peer, or finds no way
  /// to it.
  Result<void> connect(const Endpoint& peer);
  /// Once both are connected: tries whether a write reaches the other, which does the same.
  Result<void> try_out();
  /// Whether it has, and the other's has come. Fails if it never will.
  Result<bool> reached();

  /// How many writes there is room for now.
  int room() const { return depth_ - static_cast<int>(writes_); }

  /// Small ones are copied into the queue; all others stay their owner's until they have ended.
  Result<void> post(const Write& write);

  /// The next that has ended, if one has. Fails once the connection is lost, with the device's word for why.
  Result<std::optional<Ended>> poll();

  /// Readable once something has ended after arm().
  int descriptor() const { return channel_->fd; }
  Result<void> arm();
  /// To be called when the descriptor is readable.
  Result<void> clear_event();

  const Device& device() const { return *device_; }

 private:
  explicit QueuePair(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  Result<void> open();
  /// Makes room for one more notice of the peer.
  Result<void> post_receive();
  tl::unexpected<Error> lost(ibv_wc ended);
  Result<void> modify(ibv_qp_attr attributes, int mask, const char* into);

  std::shared_ptr<const Device> device_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* pair_ = nullptr;
  int depth_ = 0;
  std::uint32_t inline_size_ = 0;
  std::uint32_t first_packet_ = 0;
  int trials_ = 0;                // that have ended, of both
  std::uint64_t writes_ = 0;      // that have not ended
  std::uint64_t unsignaled_ = 0;  // since the last that will be reported
};

}  // namespace weir::real::rdma
