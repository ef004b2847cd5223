#include "backends/real/process/child.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "backends/real/process/clock.h"
#include "core/base/units_text.h"

namespace weir::real {
pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before prctl()
  return 0;
}

std::optional<int> wait_for_child(pid_t process, Instant until) {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (Clock::monotonic() >= until) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<void> wait_for_children(const std::vector<pid_t>& processes, const std::string& what,
                               Duration patience) {
  const Instant until = Clock::monotonic() + patience;
  Result<void> all;
  for (const pid_t process : processes) {
    std::optional<int> status = process > 0 ? wait_for_child(process, until) : -1;
    if (!status) {
      if (all)
        all = failure(fmt::format("process {}, {}, did not end within {}", process, what, text(patience)));
      ::kill(process, SIGKILL);
      status = wait_for_child(process, until + patience);
    }
    if (all && status != 0) all = failure(fmt::format("process {}, {}, failed", process, what));
  }
  return all;
}

}  // namespace weir::real
