// The signals that ask a program to end, held back while it has something to bring to an end itself.
#pragma once

#include <csignal>
#include <optional>

namespace weir {

/// While it lives, SIGINT, SIGTERM and SIGHUP wait to be read here, in this process and those that it forks;
/// but not those that this process was started to ignore, as nohup does. What nobody has read when it goes is
/// dropped. To be made in a process with one thread.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// Becomes readable when a signal has arrived.
  int file() const { return file_; }
  /// The next signal that has arrived, if any has.
  std::optional<int> arrived() const;

 private:
  int file_ = -1;
  sigset_t before_;
};

}  // namespace weir
