// Where the threads of a node's engines report events to the one thread that owns the node.
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

/// A report of an engine.
struct Event {
  enum class Kind : std::uint8_t {
    kDone,    // the op is done
    kBroken,  // the op failed: its engine cannot do it
    kReady,   // the receiver of this send has room for it
    kFailed,  // the peer is lost: messages with it will never move again
  };
  Kind kind = Kind::kDone;
  OpId op;
  std::uint64_t round = 0;  // ready: how often the message was sent before
  Instant started;          // done: when the op began to use its resource, if only the engine knows
  Instant at;
  MachineId peer;    // failed
  std::string text;  // failed, broken: why
};

/// Many threads put events, one thread takes them. poll() on descriptor() shows a waiting owner that there
/// are some.
class Inbox {
 public:
  Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void put(Event event);
  /// Appends all events to `into`, in the order of their arrival.
  void take(std::vector<Event>& into);
  /// Waits for an event, at most for `timeout` if given. False if none came. May also return true if the
  /// event was already taken, or after end_wait().
  bool wait(std::optional<Duration> timeout);
  /// Ends the present wait, or the next one. Any thread.
  void end_wait();

  /// Bytes by which messages have advanced, finished or not. Any thread may count and read.
  void count(std::size_t bytes) { moved_ += static_cast<std::int64_t>(bytes); }
  std::int64_t moved() const { return moved_; }

 private:
  std::atomic<std::int64_t> moved_ = 0;
  std::mutex mutex_;
  std::vector<Event> events_;
  Descriptor wake_;
};

}  // namespace weir::real
