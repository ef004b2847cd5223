#include "studies/process/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/check.h"

namespace weir {

Signals::Signals() {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&caught, signal);
  }
  sigprocmask(SIG_BLOCK, &caught, &before_);
  file_ = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
  WEIR_CHECK(file_ >= 0, errno);
}

Signals::~Signals() {
  while (arrived()) {
  }
  close(file_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::arrived() const {
  signalfd_siginfo info;
  if (read(file_, &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace weir
