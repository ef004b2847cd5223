// The threads that move the bytes of all of a node's channels, whatever their wires.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/real/transport/transport.h"
#include "backends/real/wire/channel.h"
#include "backends/real/wire/mover.h"

namespace weir::real {

struct ChannelSettings {
  int threads = 1;                  // that move bytes; each has its share of the channels
  Duration silence{4'000'000'000};  // peers that are silent for longer count as dead
  Duration poll{50'000};            // as in MoverContext
};

/// A channel moves bytes over the wire that has joined its two ends (wires.h). Each channel belongs to one
/// thread. Messages of a lane in one direction take the lane's channels in turn, in the order of message
/// numbers, so that both ends agree on the channel. If the wire cuts messages, large ones take all channels,
/// a piece each (pieces.h). The transport owns the channels; all other arguments outlive it.
class ChannelTransport final : public Transport {
 public:
  ChannelTransport(std::vector<Channel> channels, const ChannelSettings& settings, const Plan& plan,
                   MachineId self, const Buffers& buffers, Inbox& inbox);
  /// Ends the threads and closes the connections. Bytes that are still under way with a peer are lost.
  ~ChannelTransport() override;

  void expect(const Op& receive, std::uint64_t round) override;
  void start(const Op& send, std::uint64_t round) override;

 private:
  /// What a channel's mover is to do with an op.
  using Call = void (Mover::*)(const Op& op, std::uint64_t round);
  struct Command {
    std::size_t channel;
    Call call;
    const Op* op;
    std::uint64_t round;
  };
  class Loop;

  void put(Call call, const Op& op, std::uint64_t round);
  /// Assigns every message of this machine to a channel, or to all channels of its lane. Returns how many
  /// bytes each channel moves in an iteration, both ways.
  std::vector<Bytes> share_out(const std::vector<Channel>& channels);

  Pieces pieces_;
  MoverContext context_;
  std::vector<std::unique_ptr<Mover>> movers_;
  std::vector<std::size_t> channel_of_;  // by message; if cut, the lane's first, which the others follow
  std::vector<std::size_t> loop_of_;     // by channel
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace weir::real
