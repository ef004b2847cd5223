// The seam between the core and every world, simulated or real. Each node has one port. The core has no
// thread, socket or clock: it reads the time, submits ops and polls completions through the port.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/plan/op.h"

namespace weir {

/// One op has ended, possibly with an error. The port owns the error, which is valid until its next poll().
/// `started` is when the op began to use its resources, after queueing.
struct Completion {
  OpId op;
  Instant started;
  Instant at;
  const Error* error = nullptr;
};

/// The contract, which tests/conformance checks for every port:
///  1. Each submitted op completes exactly once, perhaps with an error, and within the world's deadline.
///  2. A message moves only after both of its ends have been submitted. There are no eager and no unexpected
///     messages: a receive names the slice for its bytes before these leave their source. A send and its
///     receive complete independently. A completed send means that nothing reads its source slice any more,
///     not that the bytes have arrived. A completed receive means that the bytes are in its slice, not that
///     the source is free. Before all ops of an all-reduce have been submitted, it writes nothing and none of
///     them completes.
///  3. Which ready ops start first is the dispatch policy's choice (queue.h). The send window is charged when
///     a message starts, not when it is submitted.
///  4. Ops complete in any order; completions of one instant are reported in order of op id.
///  5. Sums into overlapping slices do not overlap in time.
///  6. now() moves only in poll(), so that one pump of a node sees one instant.
///  7. An op may be submitted again, since a node runs a plan many times, but only after its completion has
///  been
///     polled.
/// A port belongs to one thread. Ops must stay valid until they have completed.
class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  virtual Instant now() const = 0;
  /// Hands over the op, which starts when the world can start it. Never blocks.
  virtual void submit(const Op& op) = 0;
  /// Appends all completions since the last call.
  virtual void poll(std::vector<Completion>& out) = 0;
};

}  // namespace weir
