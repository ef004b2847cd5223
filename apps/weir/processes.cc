#include "apps/weir/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "backends/real/clock.h"
#include "core/base/check.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

struct Running {
  pid_t process = -1;
  int pipe = -1;  // its end for reading
  std::size_t index = 0;
  std::string text;
  std::optional<Instant> stopped;  // since when it has been seen so
};

// By a signal, as kill -STOP sends it; not by a debugger.
bool is_stopped(pid_t process) {
  siginfo_t about{};
  return waitid(P_PID, static_cast<id_t>(process), &about, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid == process;
}

void write_all(int file, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent is gone, or will find the text cut short
    written += static_cast<std::size_t>(count);
  }
}

class Pool {
 public:
  Pool(const Task& task, const Ended& ended, const Signals& signals)
      : task_(task), ended_(ended), signals_(signals) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (const Running& running : running_) {
      kill(running.process, SIGKILL);
      finish(running);
    }
  }

  std::size_t size() const { return running_.size(); }

  void start(std::size_t index) {
    // What is buffered must not be written by both processes.
    std::fflush(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return ended_(index, failure(fmt::format("no pipe: {}", std::strerror(errno))));
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      serve(index, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      return ended_(index, failure(fmt::format("no process: {}", std::strerror(errno))));
    }
    running_.push_back({process, ends[0], index, {}, {}});
  }

  // Waits until something happens, and takes what has come. The signal, if one came.
  std::optional<int> wait() {
    end_stopped();
    if (!take_ready(kLong)) return std::nullopt;
    const std::optional<int> signal = signals_.arrived();
    if (!signal) return std::nullopt;
    while (take_ready(kSoon)) {  // what has ended is not lost
    }
    return signal;
  }

 private:
  static constexpr int kLong = 1000;  // ms, after which it is looked whether one is stopped
  static constexpr int kSoon = 50;
  static constexpr Duration kStopped{5'000'000'000};  // in which who stops one may let it go on

  // Takes what has come from the processes and tells of those that ended; false if there was nothing.
  bool take_ready(int patience) {
    std::vector<pollfd> files;
    for (const Running& running : running_) files.push_back({running.pipe, POLLIN, 0});
    if (patience == kLong) files.push_back({signals_.file(), POLLIN, 0});
    if (poll(files.data(), files.size(), patience) <= 0) return false;
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (files[i].revents == 0 || take(running_[i])) continue;
      const Running done = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      report(done, finish(done));
    }
    return true;
  }

  // One that is stopped would be waited for without end, and the machines of its job have given it up.
  void end_stopped() {
    const Instant now = real::Clock::monotonic();
    for (std::size_t i = running_.size(); i-- > 0;) {
      Running& one = running_[i];
      if (!is_stopped(one.process)) {
        one.stopped.reset();
        continue;
      }
      if (!one.stopped) one.stopped = now;
      if (now - *one.stopped < kStopped) continue;
      const Running lost = std::move(one);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      kill(lost.process, SIGKILL);
      finish(lost);
      ended_(lost.index, failure(fmt::format("its process, {}, was stopped by a signal, and did not go on "
                                             "within {}",
                                             lost.process, text(kStopped))));
    }
  }

  // The signals that ask to end stay held back in the child: a terminal sends them to all of us, and it is
  // the parent that decides. An exception must not unwind the child's stack up to this pool, which would end
  // the parent's other processes.
  [[noreturn]] void serve(std::size_t index, int pipe, pid_t parent) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
      write_all(pipe, task_(index));
    } catch (...) {
      _exit(1);
    }
    std::fflush(stdout);
    _exit(0);
  }

  // Reads what is there; false at the end.
  static bool take(Running& running) {
    char buffer[65536];
    const ssize_t count = read(running.pipe, buffer, sizeof buffer);
    if (count < 0) return errno == EINTR;
    running.text.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }

  static int finish(const Running& running) {
    close(running.pipe);
    int status = 0;
    while (waitpid(running.process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  void report(const Running& done, int status) const {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ended_(done.index, done.text);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      return ended_(done.index,
                    failure("its process was killed, as the system does when memory runs out; try "
                            "fewer machines, larger parts or fewer --jobs"));
    }
    const std::string how = WIFSIGNALED(status)
                                ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                : fmt::format("status {}", WEXITSTATUS(status));
    ended_(done.index, failure("its process crashed: " + how));
  }

  const Task& task_;
  const Ended& ended_;
  const Signals& signals_;
  std::vector<Running> running_;
};

}  // namespace

std::optional<int> run_in_processes(std::size_t count, int jobs, const Task& task, const Ended& ended,
                                    const Signals& signals) {
  Pool pool(task, ended, signals);
  std::size_t next = 0;
  while (next < count || pool.size() > 0) {
    while (next < count && pool.size() < static_cast<std::size_t>(jobs)) pool.start(next++);
    if (pool.size() == 0) continue;
    if (const std::optional<int> signal = pool.wait()) return signal;
  }
  return std::nullopt;
}

}  // namespace weir
