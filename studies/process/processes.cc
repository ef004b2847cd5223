#include "studies/process/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "backends/real/process/clock.h"
#include "backends/real/process/descriptor.h"
#include "core/base/check.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

struct Running {
  pid_t process = -1;
  int pipe = -1;  // its read end
  std::size_t index = 0;
  std::string text;
  std::optional<Instant> stopped;  // since when it has been found stopped
  real::Descriptor errors;         // an in-memory file as its error stream, if it is watched
  Instant began;
};

// The end of the file's content.
std::string end_of(const real::Descriptor& file) {
  constexpr off_t kMost = 4096;
  if (!file.valid()) return {};
  const off_t size = lseek(file.number(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - begin)), '\0');
  const ssize_t count = pread(file.number(), text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return text;
}

// Whether the process was stopped by a signal, such as that of kill -STOP; not by a debugger.
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
  enum class Errors { kShown, kKept };

  Pool(const Task& task, const Watch& watch, Errors errors, const Signals& signals)
      : task_(task), watch_(watch), errors_(errors), signals_(signals) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (const Running& running : running_) {
      kill(running.process, SIGKILL);
      finish(running);
    }
  }

  std::size_t size() const { return running_.size(); }

  // Fails if the system cannot start another process now.
  Result<void> start(std::size_t index) {
    // Buffered output must not be written by both processes.
    std::fflush(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    real::Descriptor errors;
    if (errors_ == Errors::kKept) errors = real::Descriptor(memfd_create("errors", MFD_CLOEXEC));
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      if (errors.valid()) dup2(errors.number(), STDERR_FILENO);
      serve(index, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      return failure(fmt::format("cannot start a process: {}", std::strerror(errno)));
    }
    running_.push_back({process, ends[0], index, {}, {}, std::move(errors), real::Clock::monotonic()});
    if (watch_.started) watch_.started(index);
    return {};
  }

  void report_end(std::size_t index, tl::unexpected<Error> why) const {
    watch_.ended(index, Ending{std::move(why), {}});
  }

  bool goes_on() const { return !watch_.goes_on || watch_.goes_on(); }

  // Waits until something happens, and handles it. Returns the signal, if one arrived.
  std::optional<int> wait() {
    end_stopped();
    end_late();
    if (!take_ready(patience())) return std::nullopt;
    const std::optional<int> signal = signals_.arrived();
    if (!signal) return std::nullopt;
    while (take_ready(kSoon, Arrivals::kLeft)) {  // results of ended tasks are not lost
    }
    return signal;
  }

 private:
  enum class Arrivals { kTaken, kLeft };  // of signals

  static constexpr int kLong = 1000;  // ms between checks whether a process is stopped
  static constexpr int kSoon = 50;
  static constexpr Duration kStopped{5'000'000'000};  // time for whoever stopped a process to let it continue

  // In ms: until the next deadline, but at most until the next check for stopped processes.
  int patience() const {
    constexpr std::int64_t kMillisecond = 1'000'000;
    int least = kLong;
    for (const Running& running : running_) {
      if (!watch_.deadline) break;
      const Duration left = running.began + *watch_.deadline - real::Clock::monotonic();
      least = static_cast<int>(std::clamp<std::int64_t>(left.ns() / kMillisecond + 1, 1, least));
    }
    return least;
  }

  // Takes what has arrived from the processes, and reports those that ended; false if there was nothing.
  bool take_ready(int patience, Arrivals arrivals = Arrivals::kTaken) {
    std::vector<pollfd> files;
    for (const Running& running : running_) files.push_back({running.pipe, POLLIN, 0});
    if (arrivals == Arrivals::kTaken) files.push_back({signals_.file(), POLLIN, 0});
    if (poll(files.data(), files.size(), patience) <= 0) return false;
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (files[i].revents == 0 || take(running_[i])) continue;
      const Running done = taken_out(i);
      report(done, finish(done));
    }
    return true;
  }

  // Ends a process that is stopped: otherwise the wait for it would not end, and the machines of its job have
  // given it up.
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
      const Running lost = taken_out(i);
      kill(lost.process, SIGKILL);
      finish(lost);
      report_end(lost,
                 failure(fmt::format("a signal stopped its process {}, which did not continue within {}",
                                     lost.process, text(kStopped))));
    }
  }

  void end_late() {
    const Instant now = real::Clock::monotonic();
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (!watch_.deadline || now - running_[i].began < *watch_.deadline) continue;
      const Running late = taken_out(i);
      kill(late.process, SIGKILL);
      finish(late);
      Ending ending{
          failure(fmt::format("it did not finish within {} and was killed", text(*watch_.deadline))), {}};
      ending.late = true;
      report_end(late, std::move(ending));
    }
  }

  Running taken_out(std::size_t position) {
    Running one = std::move(running_[position]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
    return one;
  }

  // The signals that ask to end stay blocked in the child: a terminal sends them to all processes, and the
  // parent decides. An exception must not unwind the child's stack into this pool, which would end the
  // parent's other processes.
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

  // Reads what is available; false at the end.
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
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return report_end(done, {done.text, {}});
    if (!WIFSIGNALED(status))
      return report_end(done, failure(fmt::format("its process crashed: status {}", WEXITSTATUS(status))));
    const int signal = WTERMSIG(status);
    const std::string how =
        signal == SIGKILL ? "its process was killed, probably because memory ran out; try fewer machines, "
                            "larger parts or fewer jobs"
                          : fmt::format("its process crashed: signal {} ({})", signal, strsignal(signal));
    report_end(done, {failure(how), signal});
  }

  void report_end(const Running& done, Ending ending) const {
    ending.errors = end_of(done.errors);
    ending.took = real::Clock::monotonic() - done.began;
    watch_.ended(done.index, ending);
  }
  void report_end(const Running& done, tl::unexpected<Error> why) const {
    report_end(done, Ending{std::move(why), {}});
  }

  const Task& task_;
  const Watch& watch_;
  Errors errors_;
  const Signals& signals_;
  std::vector<Running> running_;
};

std::optional<int> run(std::size_t count, int jobs, Pool& pool) {
  constexpr int kTries = 100;  // while no running task will make room
  constexpr std::chrono::milliseconds kPause(100);
  std::size_t next = 0;
  int tries = 0;
  while (next < count || pool.size() > 0) {
    while (next < count && pool.size() < static_cast<std::size_t>(jobs)) {
      const auto started = pool.start(next);
      if (!started && pool.size() > 0) break;
      if (!started && ++tries < kTries) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      if (!started) pool.report_end(next, tl::unexpected(started.error()));
      ++next;
      tries = 0;
    }
    if (pool.size() == 0) continue;
    if (const std::optional<int> signal = pool.wait()) return signal;
    if (!pool.goes_on()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> run_in_processes(std::size_t count, int jobs, const Task& task, const Ended& ended,
                                    const Signals& signals, std::optional<Duration> deadline) {
  const Watch watch{.deadline = deadline,
                    .ended = [&](std::size_t index, const Ending& ending) { ended(index, ending.text); }};
  Pool pool(task, watch, Pool::Errors::kShown, signals);
  return run(count, jobs, pool);
}

std::optional<int> run_watched(std::size_t count, int jobs, const Task& task, const Watch& watch,
                               const Signals& signals) {
  Pool pool(task, watch, Pool::Errors::kKept, signals);
  return run(count, jobs, pool);
}

}  // namespace weir
