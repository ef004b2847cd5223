#include "apps/weir/file_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace weir {
namespace {

void remove(const std::vector<std::string>& files) {
  for (const std::string& file : files) ::unlink(file.c_str());
}

// It holds nothing open but the pipe, as others may wait for the end of what it would hold. Calls nothing
// that another thread might have locked when this one was forked.
[[noreturn]] void stand_by(const std::vector<std::string>& files, int pipe) {
  ::dup2(pipe, STDIN_FILENO);
  ::syscall(SYS_close_range, STDOUT_FILENO, ~0U, 0);
  char nothing = 0;
  while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR) {
  }
  remove(files);
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<FileGuard>> FileGuard::make(std::vector<std::string> files) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("no pipe: {}", std::strerror(errno)));
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // held back in the child for good
  const pid_t process = ::fork();
  if (process == 0) stand_by(files, ends[0]);
  const int why = errno;
  if (process > 0) ::setpgid(process, process);  // so that whoever kills this process's group leaves it
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (process < 0) {
    ::close(ends[1]);
    return failure(fmt::format("no process to remove files: {}", std::strerror(why)));
  }
  return std::unique_ptr<FileGuard>(new FileGuard(std::move(files), ends[1], process));
}

FileGuard::~FileGuard() {
  remove(files_);
  // Not by the end of the pipe, which a fork of this process may still hold.
  ::kill(process_, SIGKILL);
  ::close(pipe_);
  int ignored = 0;
  while (::waitpid(process_, &ignored, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace weir
