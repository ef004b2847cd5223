// What moves the messages of one channel. The threads that move a node's bytes make the same calls, whatever
// the wire.
#pragma once

#include <optional>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/process/inbox.h"
#include "backends/real/wire/frame.h"
#include "backends/real/wire/pieces.h"
#include "core/plan/plan.h"

namespace weir::real {

/// This node's end of one channel. One thread owns it. It never blocks. It checks words and sizes from the
/// peer against the plan before it touches a byte of memory. Peers that write into memory by themselves reach
/// only the memory that messages land in.
class Mover {
 public:
  Mover() = default;
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;
  virtual ~Mover() = default;

  virtual MachineId peer() const = 0;
  /// The connection that words come over.
  virtual int words() const = 0;
  /// The connection that messages come over, if they do.
  virtual std::optional<int> data() const = 0;

  /// As in Transport. The calls below then move the bytes.
  virtual void expect(const Op& receive, std::uint64_t round) = 0;
  virtual void start(const Op& send, std::uint64_t round) = 0;
  virtual void say_alive() = 0;

  /// Moves what can be moved now, up to a bound so that other channels get their turn. Fails if the
  /// connection is lost or the peer says what the plan does not allow.
  virtual Result<void> read_words() = 0;
  virtual Result<void> read_data() = 0;
  virtual Result<void> write_words() = 0;
  virtual Result<void> write_data() = 0;

  /// Whether something waits to be written until a connection takes more.
  virtual bool words_wait() const = 0;
  virtual bool data_wait() const = 0;
  /// Whether something can be written at once, after others have had their turn.
  virtual bool can_go_on() const = 0;
  /// Until when the pace holds messages back, though the connection may take more; none if nothing holds them
  /// back.
  virtual std::optional<Instant> held_until() const { return {}; }
};

/// What all channels of a node share; it outlives them.
struct MoverContext {
  const Plan* plan;
  MachineId self;
  const Buffers* buffers;
  Inbox* inbox;
  Pieces* pieces;
  /// How long a mover polls for the ends of messages before it sleeps until they are reported. Only for wires
  /// that can do both.
  Duration poll{};

  /// The piece of a message that the channel at that place in its lane moves; the whole message if it is not
  /// cut.
  Piece piece(MessageId message, int place) const {
    const int count = pieces->count(message);
    return count == 1 ? Piece{} : Piece{place, count};
  }
};

/// The messages of a channel for which the peer has room and which have not been started since. There is one
/// round of each at most, however often the peer says that it has room.
class Rooms {
 public:
  /// Tells the inbox once the peer has room for all pieces. Fails if the plan has no such message for the
  /// peer, or if the peer has said so before.
  Result<void> take(const MoverContext& context, MachineId peer, const Frame& word);
  void start(MessageId message);

 private:
  std::vector<bool> open_;  // by message; empty until the first
};

/// One piece of the op, which began at `started`, is done. Tells the inbox if all pieces are.
void report_done(const MoverContext& context, const Op& op, Instant started);

/// The receives of a channel that have been submitted and whose messages have not begun to arrive.
class Expected {
 public:
  /// `size` is that of the message, or of the piece that this channel moves.
  void add(const Op& receive, std::uint64_t round, Bytes size) {
    entries_.push_back({&receive, round, size});
  }
  /// Removes and returns the receive of the message that the word announces. Fails if there is none, or if it
  /// has another size.
  Result<const Op*> take(const Frame& word);

 private:
  struct Entry {
    const Op* op;
    std::uint64_t round;
    Bytes size;
  };
  std::vector<Entry> entries_;
};

}  // namespace weir::real
