// Leads a training session from a thread of rank 0's process. It seats the processes, finds which tensors all
// ranks know, and makes everybody plan them together. It ends the session when it is over or somebody fails.
// The protocol is in core/protocol/session_leader.h. This is its driver, which has the socket, the clock and
// the thread.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "backends/real/session/session_layout.h"
#include "core/protocol/session_leader.h"

namespace weir::real {

struct LeaderSettings {
  std::string version;  // of the program: all must have the same
  TransportChoice transport = TransportChoice::kAuto;
  bool encrypt = false;
  Duration patience;    // how long all may take to get their seats
  Duration warn_after;  // when to report on standard error who is missing
};

/// Its thread starts with it and ends with the session.
class Leader {
 public:
  Leader(std::unique_ptr<ControlSocket> socket, SessionLayout layout, const LeaderSettings& settings);
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  /// Ends the session for all if it is still running.
  ~Leader();

 private:
  LeaderTerms terms() const;
  void run();
  void step(SessionLeader& machine);
  void carry_out(const LeaderAction& action, SessionLeader& machine);

  std::unique_ptr<ControlSocket> socket_;
  SessionLayout layout_;
  LeaderSettings settings_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace weir::real
