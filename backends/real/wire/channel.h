// One of the channels between two nodes: its connections, and what its wire needs beside them.
#pragma once

#include <memory>
#include <string_view>

#include "backends/real/wire/lane.h"
#include "backends/real/wire/pace.h"
#include "backends/real/wire/stream.h"

namespace weir::real {

/// What two nodes have agreed on to move a channel's messages through. Each wire has its own kind, which
/// nobody outside that wire's folder looks into.
class Medium {
 public:
  Medium() = default;
  Medium(const Medium&) = delete;
  Medium& operator=(const Medium&) = delete;
  virtual ~Medium() = default;

  /// The name of the wire: "tcp".
  virtual std::string_view wire() const = 0;
};

/// The messages of a channel move one after the other. Words (frame.h) have a connection of their own, so
/// that none waits behind a message.
struct Channel {
  Lane lane;
  int index = 0;  // among those with this peer, over all lanes
  int place = 0;  // among those of its lane
  Stream words;
  Stream data;
  /// Null until a wire has joined the two ends (wire.h).
  std::unique_ptr<Medium> medium;
  /// The rate that all channels of the lane keep together; null if nothing holds them back.
  std::shared_ptr<Pace> pace;
};

}  // namespace weir::real
