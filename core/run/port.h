// The seam between the core and every world, simulated or real: one node's door. The core holds no thread,
// socket or clock; it asks the time, submits ops and polls completions through here.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/plan/op.h"

namespace weir {

/// One op has ended, well or with an error, which is the port's and lives until its next poll(). `started` is
/// when the op began to use its resources (after queueing).
struct Completion {
  OpId op;
  Instant started;
  Instant at;
  const Error* error = nullptr;
};

/// The contract, which tests/conformance checks of every port:
///  1. Each submitted op completes exactly once, perhaps with an error, and within the world's deadline.
///  2. A message moves once both of its ends have been submitted, and not before. There are no eager messages
///     and no unexpected ones: a receive names the slice that its bytes land in before they leave their
///     source. The ends complete each on its own. That the send has completed says that nothing reads its
///     source slice any more, not that the bytes have landed; that the receive has completed says that they
///     lie in its slice, not that the source is free.
///     An all-reduce writes nothing, and none of its ops completes, before all of them have been submitted.
///  3. Which ready ops start first is the dispatch policy's choice (queue.h). The send window is charged when
///     a message starts, not when it is submitted.
///  4. Ops complete in any order; completions of one instant are reported in order of op id.
///  5. Sums into overlapping slices do not overlap in time.
///  6. now() moves only in poll(), so that one pump of a node sees one instant.
///  7. An op may be submitted again only after its completion has been polled: a node runs a plan many times.
/// A port belongs to one owner thread. Submitted ops outlive their completion.
class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  virtual Instant now() const = 0;
  /// Starts the op when the world can; never blocks.
  virtual void submit(const Op& op) = 0;
  /// Appends what has completed since the last call.
  virtual void poll(std::vector<Completion>& out) = 0;
};

}  // namespace weir
