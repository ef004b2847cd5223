#include "apps/weir/lab_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "apps/weir/text/lab_text.h"
#include "apps/weir/text/output.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);
constexpr Duration kEnded = Duration(1'000'000'000);  // what has ended is waited for at once

// What comes out of a stream of one machine, told by whole lines.
struct Stream {
  real::Descriptor file;
  std::FILE* into = stdout;
  std::string line;  // begun
};

struct Running {
  std::string name;
  pid_t process = -1;
  real::Descriptor handle;  // readable once the process has ended; closed after
  Stream streams[2];
};

class Runs {
 public:
  Runs(real::Lab& lab, const Cluster& cluster, const Signals& signals)
      : lab_(lab), cluster_(cluster), signals_(signals) {}

  Result<void> start(const std::vector<std::string>& command) {
    for (const Machine& machine : cluster_.machines()) width_ = std::max(width_, machine.name.size());
    for (std::size_t i = 0; i < cluster_.machines().size(); ++i) {
      if (auto started = start(MachineId(i), command); !started) return started;
    }
    return {};
  }

  // Until all have ended.
  ExitStatus wait(std::optional<Duration> span) {
    if (span) deadline_ = Clock::now() + std::chrono::nanoseconds(span->ns());
    while (running() && take_ready()) {
    }
    for (Running& run : runs_) {
      for (Stream& stream : run.streams) {
        take(run, stream);
        if (!stream.line.empty()) tell(run, stream, stream.line);
      }
    }
    return status_;
  }

 private:
  Result<void> start(MachineId machine, const std::vector<std::string>& command) {
    Running run;
    run.name = cluster_.machine(machine).name;
    int ends[2][2];
    for (int i = 0; i < 2; ++i) {
      if (pipe2(ends[i], O_CLOEXEC) != 0) return failure(fmt::format("no pipe: {}", std::strerror(errno)));
      run.streams[i].file = real::Descriptor(ends[i][0]);
      fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
      run.streams[i].into = i == 0 ? stdout : stderr;
    }
    const real::Descriptor output(ends[0][1]);
    const real::Descriptor error(ends[1][1]);
    const auto process = lab_.spawn(machine, real::Program{.arguments = command,
                                                           .environment = lab_environment(cluster_, machine),
                                                           .output = output.number(),
                                                           .error = error.number()});
    if (!process) return tl::unexpected(process.error());
    run.process = *process;
    run.handle = real::handle_of(*process);
    runs_.push_back(std::move(run));
    return {};
  }

  bool running() const {
    return std::any_of(runs_.begin(), runs_.end(), [](const Running& run) { return run.handle.valid(); });
  }

  // Takes what has come; false once waiting is over.
  bool take_ready() {
    std::vector<pollfd> files = {{signals_.file(), POLLIN, 0}};
    for (const Running& run : runs_) {
      for (const Stream& stream : run.streams) files.push_back({stream.file.number(), POLLIN, 0});
      files.push_back({run.handle.number(), POLLIN, 0});
    }
    if (poll(files.data(), files.size(), patience()) < 0) return errno == EINTR;
    std::size_t at = 1;
    for (Running& run : runs_) {
      for (Stream& stream : run.streams) {
        if (files[at++].revents != 0) take(run, stream);
      }
      if (files[at++].revents != 0) end(run);
    }
    if (const std::optional<int> signal = signals_.arrived()) return stop(128 + *signal);
    if (!deadline_ || Clock::now() < *deadline_) return true;
    if (stopping_) return false;
    print_error("weir lab: the time is up\n");
    return stop(kExitFailed);
  }

  // In ms, for poll().
  int patience() const {
    if (!deadline_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
  }

  // Asks all to end; false if they have been asked before.
  bool stop(ExitStatus status) {
    if (stopping_) return false;
    stopping_ = true;
    status_ = status;
    deadline_ = Clock::now() + kGrace;
    for (const Running& run : runs_) {
      if (run.handle.valid()) lab_.stop(run.process);
    }
    return true;
  }

  void take(const Running& run, Stream& stream) const {
    char buffer[65536];
    while (stream.file.valid()) {
      const ssize_t count = read(stream.file.number(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) stream.file = real::Descriptor();
      if (count <= 0) return;
      stream.line.append(buffer, static_cast<std::size_t>(count));
      std::size_t from = 0;
      for (std::size_t to = 0; (to = stream.line.find('\n', from)) != std::string::npos; from = to + 1)
        tell(run, stream, stream.line.substr(from, to - from));
      stream.line.erase(0, from);
      std::fflush(stream.into);
    }
  }

  void tell(const Running& run, const Stream& stream, const std::string& line) const {
    const std::string text = fmt::format("{:{}} | {}\n", run.name, width_, line);
    (void)std::fwrite(text.data(), 1, text.size(), stream.into);
  }

  void end(Running& run) {
    run.handle = real::Descriptor();
    for (Stream& stream : run.streams) take(run, stream);
    const auto ended = lab_.wait(run.process, kEnded);
    if (!ended || (WIFEXITED(*ended) && WEXITSTATUS(*ended) == 0) || stopping_) return;
    status_ = kExitFailed;
    if (WIFSIGNALED(*ended)) {
      print_error("weir lab: {}: ended by signal {} ({})\n", run.name, WTERMSIG(*ended),
                  strsignal(WTERMSIG(*ended)));
    } else {
      print_error("weir lab: {}: ended with status {}\n", run.name, WEXITSTATUS(*ended));
    }
  }

  real::Lab& lab_;
  const Cluster& cluster_;
  const Signals& signals_;
  std::size_t width_ = 0;  // of the longest name
  std::vector<Running> runs_;
  ExitStatus status_ = kExitWell;
  bool stopping_ = false;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace

Result<ExitStatus> run_in_lab(real::Lab& lab, const Cluster& cluster, const std::vector<std::string>& command,
                              std::optional<Duration> deadline, const Signals& signals) {
  Runs runs(lab, cluster, signals);
  if (const auto started = runs.start(command); !started) return tl::unexpected(started.error());
  return runs.wait(deadline);
}

}  // namespace weir
