// Where the threads of a node's engines leave what has happened, for the one thread that owns the node.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/ids.h"
#include "core/base/units.h"

namespace weir::real {

/// What an engine tells.
struct Event {
  enum class Kind : std::uint8_t {
    kDone,    // the op is done
    kBroken,  // the op has failed: its engine cannot do it
    kReady,   // the receiver of this send has room for it
    kFailed,  // the peer is lost: none of the messages with it will move any more
  };
  Kind kind = Kind::kDone;
  OpId op;
  std::uint64_t round = 0;  // ready: which time that the message is sent, from 0
  Instant started;          // done: when the op began to use its resource, if the engine alone knows
  Instant at;
  MachineId peer;    // failed
  std::string text;  // failed, broken: why
};

/// Many threads put, one takes. A waiting owner is woken through descriptor(), which can be polled.
class Inbox {
 public:
  Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void put(Event event);
  /// Moves all events, in the order in which they came, to the end of `into`.
  void take(std::vector<Event>& into);
  /// Waits for an event, until `timeout` is over if there is one. False if none came. May be
  /// true for one that has been taken already, or after end_wait().
  bool wait(std::optional<Duration> timeout);
  /// Ends the wait that is under way, or the next one. Any thread.
  void end_wait();

  /// Bytes that messages have come forward by, of messages that are not done too: any thread counts and
  /// reads.
  void count(std::size_t bytes) { moved_ += static_cast<std::int64_t>(bytes); }
  std::int64_t moved() const { return moved_; }

 private:
  std::atomic<std::int64_t> moved_ = 0;
  std::mutex mutex_;
  std::vector<Event> events_;
  Descriptor wake_;
};

}  // namespace weir::real
