// Large messages, which all channels of a lane move together, a piece each. If each message had a channel of
// its own, the first would share the lane with all that start after it, and be late.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace weir::real {

/// One of `count` consecutive runs of a message's bytes. They are equally long, except for the remainder.
struct Piece {
  int index = 0;
  int count = 1;

  Bytes offset(Bytes message) const { return message * index / count; }
  Bytes size(Bytes message) const { return Piece{index + 1, count}.offset(message) - offset(message); }
};

/// The piece's part of a message's memory, which lies in `parts`.
std::vector<std::span<std::byte>> cut(std::vector<std::span<std::byte>> parts, Piece piece);

/// Into how many pieces each message of a node goes, and which of them have got how far. A piece counts as
/// soon as its channel has come so far; the message when the last one has. Those that are not cut are of one
/// piece, and nothing is kept of them. cut() before any thread asks; the rest any thread.
class Pieces {
 public:
  /// Largest messages that go whole: a piece costs a word and a wake-up as a message does.
  static constexpr Bytes kLargestWhole{8 << 20};

  explicit Pieces(std::size_t messages) : counts_(messages, 1) {}

  void cut(MessageId message, int count) { counts_[message.index()] = count; }
  int count(MessageId message) const { return counts_[message.index()]; }

  /// The peer has room for one piece more: whether it has for all.
  bool ready(MessageId message);
  /// One piece more, begun then, is done: when the first one began, if all are.
  std::optional<Instant> done(MessageId message, Instant started);

 private:
  struct Progress {
    int ready = 0;
    int done = 0;
    Instant started;
  };

  std::vector<int> counts_;
  std::mutex mutex_;
  std::map<MessageId, Progress> progress_;
};

}  // namespace weir::real
