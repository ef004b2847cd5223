// What moves the messages of one channel, as the threads that move a node's bytes see it: the same calls
// whatever the wire.
#pragma once

#include <optional>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/process/inbox.h"
#include "backends/real/wire/frame.h"
#include "backends/real/wire/pieces.h"
#include "core/plan/plan.h"

namespace weir::real {

/// One channel between two nodes. Owned by one thread; never blocks. Words and sizes from the peer are
/// checked against the plan before a byte of memory is touched; peers that write into memory by themselves
/// reach what messages land in and nothing else.
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

  /// As a transport's; what comes of it is moved by the calls below.
  virtual void expect(const Op& receive, std::uint64_t round) = 0;
  virtual void start(const Op& send, std::uint64_t round) = 0;
  virtual void say_alive() = 0;

  /// Moves what can be moved now, up to a bound so that other channels get their turn. Fails if the
  /// connection is lost or the peer says what the plan does not allow.
  virtual Result<void> read_words() = 0;
  virtual Result<void> read_data() = 0;
  virtual Result<void> write_words() = 0;
  virtual Result<void> write_data() = 0;

  /// Whether something is to be written once a connection takes more.
  virtual bool words_wait() const = 0;
  virtual bool data_wait() const = 0;
  /// Whether something can be written at once, after others have had their turn.
  virtual bool can_go_on() const = 0;
  /// Until when nothing of a message is to be written though the connection may take it; none if nothing
  /// holds it back.
  virtual std::optional<Instant> held_until() const { return {}; }
};

/// What all channels of a node share; it outlives them.
struct MoverContext {
  const Plan* plan;
  MachineId self;
  const Buffers* buffers;
  Inbox* inbox;
  Pieces* pieces;
  /// How long a mover may look for the ends of messages before it waits until it is told of them, where a
  /// wire can do both.
  Duration poll{};

  /// Of a message that a channel moves, or moves a piece of: the place is the channel's in its lane.
  Piece piece(MessageId message, int place) const {
    const int count = pieces->count(message);
    return count == 1 ? Piece{} : Piece{place, count};
  }
};

/// The messages of a channel that the peer has said it has room for, and that have not been started since:
/// one round of each at most, however often it says so.
class Rooms {
 public:
  /// Tells the inbox that the peer has room, if it has for all pieces. Fails if the plan has no such message
  /// for it, or if it has said so before.
  Result<void> take(const MoverContext& context, MachineId peer, const Frame& word);
  void start(MessageId message);

 private:
  std::vector<bool> open_;  // by message; empty until the first
};

/// Tells the inbox that the op is done now, if all of its pieces are: this one, begun then, is.
void tell_done(const MoverContext& context, const Op& op, Instant started);

/// The receives of a channel that have been submitted, and whose message has not begun to come.
class Expected {
 public:
  /// Of the message, or of a piece of it, which is so large.
  void add(const Op& receive, std::uint64_t round, Bytes size) {
    entries_.push_back({&receive, round, size});
  }
  /// The receive of the message that the word announces, which is then expected no longer. Fails if there is
  /// none, or it has another size.
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
