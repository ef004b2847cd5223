// Moves the messages of a channel between two nodes of one host. A message is one copy, from the sender's
// slice into the receiver's, whose memory the sender has mapped. Only words pass through the kernel.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/wire/channel.h"
#include "backends/real/wire/mover.h"
#include "backends/real/wire/words.h"

namespace weir::real::shm {

/// The thread that owns the sender's end copies. A word tells the receiver when all of a message is there.
/// From the word that the receiver has room (kReady) to the word that the message has landed, only the sender
/// touches the slice.
class ShmMover final : public Mover {
 public:
  /// `memory` is the part of the peer's memory that this node may write messages into.
  ShmMover(Channel channel, std::shared_ptr<const Buffers> memory, const MoverContext& context)
      : peer_(channel.lane.peer),
        place_(channel.place),
        words_(std::move(channel.words)),
        memory_(std::move(memory)),
        context_(&context) {}

  MachineId peer() const override { return peer_; }
  int words() const override { return words_.connection(); }
  std::optional<int> data() const override { return std::nullopt; }

  void expect(const Op& receive, std::uint64_t round) override;
  void start(const Op& send, std::uint64_t round) override;
  void say_alive() override;

  Result<void> read_words() override;
  Result<void> read_data() override { return {}; }
  Result<void> write_words() override { return words_.write(); }
  Result<void> write_data() override;

  bool words_wait() const override { return words_.pending(); }
  bool data_wait() const override { return false; }
  bool can_go_on() const override { return !outgoing_.empty(); }

 private:
  // Runs of memory, one after the other, and how much of them is done.
  struct Runs {
    std::vector<std::span<std::byte>> parts;
    std::size_t part = 0;  // the first that is not done
    std::size_t done = 0;  // bytes of it

    bool finished() const { return part == parts.size(); }
    std::span<std::byte> rest() const { return parts[part].subspan(done); }
    void advance(std::size_t bytes);
  };
  struct Flight {
    const Op* op;
    std::uint64_t round;
    Instant started;
    Runs from;
    Runs into;
  };

  static std::size_t copy(Flight& flight, std::size_t most);
  Result<void> land(const Frame& word);

  MachineId peer_;
  int place_;  // in its lane
  Words words_;
  std::shared_ptr<const Buffers> memory_;  // the peer's
  const MoverContext* context_;
  std::deque<Flight> outgoing_;
  Expected expected_;
  Rooms rooms_;
};

}  // namespace weir::real::shm
