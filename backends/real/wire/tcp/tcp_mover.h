// Moves the messages of a channel over TCP. They move over its data connection one after the other.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "backends/real/wire/channel.h"
#include "backends/real/wire/mover.h"
#include "backends/real/wire/words.h"

namespace weir::real::tcp {

class TcpMover final : public Mover {
 public:
  TcpMover(Channel channel, const MoverContext& context)
      : peer_(channel.lane.peer),
        place_(channel.place),
        words_(std::move(channel.words)),
        data_(std::move(channel.data)),
        pace_(std::move(channel.pace)),
        context_(&context) {}

  MachineId peer() const override { return peer_; }
  int words() const override { return words_.connection(); }
  std::optional<int> data() const override { return data_.number(); }

  void expect(const Op& receive, std::uint64_t round) override;
  void start(const Op& send, std::uint64_t round) override;
  void say_alive() override;

  Result<void> read_words() override;
  Result<void> read_data() override;
  Result<void> write_words() override { return words_.write(); }
  Result<void> write_data() override;

  bool words_wait() const override { return words_.pending(); }
  bool data_wait() const override { return (!outgoing_.empty() && !held_until_) || data_.pending(); }
  bool can_go_on() const override { return false; }
  std::optional<Instant> held_until() const override { return held_until_; }

 private:
  // A message's bytes on their way: the header, if there is one, and then the parts.
  struct Flight {
    const Op* op = nullptr;
    FrameBytes header{};
    std::vector<std::span<std::byte>> parts;
    std::size_t part = 0;  // the first that is not done
    std::size_t done = 0;  // bytes of it
    Instant started;
  };

  Result<void> begin_receive();
  static void advance(Flight& flight, std::size_t bytes);
  static std::size_t gather(const Flight& flight, std::vector<iovec>& into);
  /// Sends up to `most` of the gathered bytes, as far as the pace allows.
  Result<std::size_t> send(std::size_t most);

  MachineId peer_;
  int place_;  // in its lane
  Words words_;
  Stream data_;
  std::shared_ptr<Pace> pace_;
  const MoverContext* context_;
  std::deque<Flight> outgoing_;
  std::optional<Instant> held_until_;  // by the pace
  std::size_t header_sent_ = 0;        // of the first outgoing message
  FrameBytes header_{};                // of the next message, being read
  std::size_t header_got_ = 0;
  Flight incoming_;  // no op: none
  Expected expected_;
  Rooms rooms_;
  std::vector<iovec> vectors_;
};

}  // namespace weir::real::tcp
