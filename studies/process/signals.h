// Holds back the signals that ask a program to end, while the program has work to finish in order.
#pragma once

#include <csignal>
#include <optional>

namespace weir {

/// While it lives, SIGINT, SIGTERM and SIGHUP wait to be read here, in this process and in forked ones.
/// Signals that this process was started to ignore (as by nohup) stay ignored. Signals unread at its
/// destruction are dropped. Make it in a process with one thread.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// Becomes readable when a signal arrives.
  int file() const { return file_; }
  /// The next signal that has arrived, if any.
  std::optional<int> arrived() const;

 private:
  int file_ = -1;
  sigset_t before_;
};

}  // namespace weir
