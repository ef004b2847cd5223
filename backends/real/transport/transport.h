// What moves messages between the machines of a job, whatever the wire.
#pragma once

#include <cstdint>

#include "core/plan/plan.h"

namespace weir::real {

/// The owner of a node calls it, and finds the results in the node's inbox. A message moves once per round;
/// its first time is round 0.
///
///   receiver                         sender
///   expect(receive, r)  -- word -->  kReady of the send, round r
///                                    start(send, r): once the send was submitted and its NIC chose it
///   kDone of the receive <- bytes -- kDone of the send: its source is free
///
/// Reports a peer that is lost, or silent for too long, once, as kFailed.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// The receive has been submitted: its slice may take the bytes of this round.
  virtual void expect(const Op& receive, std::uint64_t round) = 0;
  /// Sends the bytes. The receiver expects them.
  virtual void start(const Op& send, std::uint64_t round) = 0;
};

}  // namespace weir::real
