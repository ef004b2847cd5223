// One channel between two nodes over TCP: its two connections, and the messages that move over them one
// after the other.
#pragma once

#include <sys/uio.h>

#include <deque>
#include <string>
#include <vector>

#include "backends/real/buffers.h"
#include "backends/real/frame.h"
#include "backends/real/inbox.h"
#include "backends/real/links.h"
#include "core/plan/plan.h"

namespace weir::real {

/// What all channels of a node share; it outlives them.
struct TcpShared {
  const Plan* plan;
  MachineId self;
  const Buffers* buffers;
  Inbox* inbox;
};

/// Owned by one thread, that of its loop; never blocks. Words and sizes from the peer are checked against the
/// plan before a byte of memory is touched.
class TcpChannel {
 public:
  TcpChannel(Channel channel, const TcpShared& shared) : channel_(std::move(channel)), shared_(&shared) {}

  MachineId peer() const { return channel_.peer; }
  int words() const { return channel_.words.number(); }
  int data() const { return channel_.data.number(); }

  void expect(const Op& receive, std::uint64_t round);
  void start(const Op& send, std::uint64_t round);
  void say_alive();

  /// Moves what can be moved now, up to a bound so that other channels get their turn. Fails if the
  /// connection is lost or the peer says what the plan does not allow.
  Result<void> read_words();
  Result<void> read_data();
  Result<void> write_words();
  Result<void> write_data();

  bool words_pending() const { return sent_ < words_out_.size(); }
  bool data_pending() const { return !outgoing_.empty(); }

 private:
  // A message's bytes on their way: the header if any, then the parts, `at` bytes of all of which are done.
  struct Flight {
    const Op* op = nullptr;
    std::uint64_t round = 0;
    FrameBytes header{};
    std::vector<std::span<std::byte>> parts;
    std::size_t part = 0;  // the first that is not done
    std::size_t done = 0;  // bytes of it
    Instant started;
  };
  struct Expected {
    const Op* op;
    std::uint64_t round;
  };

  Result<void> accept(const Frame& word);
  Result<void> begin_receive();
  void finish(const Flight& flight);
  static void advance(Flight& flight, std::size_t bytes);
  static std::size_t gather(const Flight& flight, std::vector<iovec>& into);

  Channel channel_;
  const TcpShared* shared_;
  std::vector<std::byte> words_out_;
  std::size_t sent_ = 0;  // of words_out_
  FrameBytes word_{};     // being read
  std::size_t word_got_ = 0;
  std::deque<Flight> outgoing_;
  std::size_t header_sent_ = 0;  // of the first outgoing message
  FrameBytes header_{};          // of the next message, being read
  std::size_t header_got_ = 0;
  Flight incoming_;                 // no op: none
  std::vector<Expected> expected_;  // posted, and not begun
  std::vector<iovec> vectors_;
};

}  // namespace weir::real
