#include "backends/real/process/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace weir::real {
namespace {

// It keeps only the pipe open, since others may wait for the end of anything that it held.
[[noreturn]] void stand_by(const std::function<void()>& duty, int pipe) {
  ::dup2(pipe, STDIN_FILENO);
  ::syscall(SYS_close_range, STDOUT_FILENO, ~0U, 0);
  ::prctl(PR_SET_NAME, "weir-guard");
  (void)!::chdir("/");
  char nothing = 0;
  while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR) {
  }
  duty();
  ::_exit(0);
}

}  // namespace

Result<Guard> stand_guard(const std::function<void()>& duty) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Descriptor there(ends[0]);
  Guard guard;
  guard.pipe = Descriptor(ends[1]);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // blocked in the child forever
  guard.process = ::fork();
  if (guard.process == 0) stand_by(duty, there.number());
  const int why = errno;
  // So it survives if this process's group is killed.
  if (guard.process > 0) ::setpgid(guard.process, guard.process);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (guard.process < 0)
    return failure(fmt::format("cannot start a process to clean up: {}", std::strerror(why)));
  return guard;
}

bool relieve(Guard& guard, Duration patience) {
  constexpr auto kNap = std::chrono::milliseconds(2);
  guard.pipe = Descriptor();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience.ns());
  for (;;) {
    int ignored = 0;
    const pid_t ended = ::waitpid(guard.process, &ignored, WNOHANG);
    if (ended == guard.process || (ended < 0 && errno != EINTR)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace weir::real
