#include "studies/lab/lab_run.h"

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

namespace weir {
namespace {

std::string addresses(const Cluster& cluster, MachineId machine) {
  std::vector<std::string> all;
  for (std::size_t nic = 0; nic < cluster.machine(machine).nics.size(); ++nic)
    all.push_back(real::lab_address(machine, static_cast<int>(nic)));
  return fmt::format("{}", fmt::join(all, "+"));
}

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);
constexpr Duration kEnded = Duration(1'000'000'000);  // processes that ended are reaped at once

// Collects one output stream of one machine, and passes on whole lines.
struct LabStream {
  real::Descriptor file;
  bool errors = false;
  std::string line;  // the line begun so far
};

struct LabProgram {
  std::string name;
  pid_t process = -1;
  real::Descriptor handle;  // readable once the process has ended; then closed
  LabStream streams[2];
};

class LabPrograms {
 public:
  LabPrograms(real::Lab& lab, const Cluster& cluster, const Signals& signals, const LabEvents& events)
      : lab_(lab), cluster_(cluster), signals_(signals), events_(events) {}

  Result<void> start(const std::vector<std::string>& command) {
    for (std::size_t i = 0; i < cluster_.machines().size(); ++i) {
      if (auto started = start(MachineId(i), command); !started) return started;
    }
    return {};
  }

  // Waits until all have ended.
  LabRun wait(std::optional<Duration> span) {
    if (span) deadline_ = Clock::now() + std::chrono::nanoseconds(span->ns());
    while (running() && take_ready()) {
    }
    for (LabProgram& run : runs_) {
      for (LabStream& stream : run.streams) {
        take(run, stream);
        if (!stream.line.empty()) report_line(run, stream, stream.line);
      }
    }
    return ended_;
  }

 private:
  Result<void> start(MachineId machine, const std::vector<std::string>& command) {
    LabProgram run;
    run.name = cluster_.machine(machine).name;
    int ends[2][2];
    for (int i = 0; i < 2; ++i) {
      if (pipe2(ends[i], O_CLOEXEC) != 0)
        return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
      run.streams[i].file = real::Descriptor(ends[i][0]);
      fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
      run.streams[i].errors = i == 1;
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
    return std::any_of(runs_.begin(), runs_.end(), [](const LabProgram& run) { return run.handle.valid(); });
  }

  // Takes what has arrived; false once waiting is over.
  bool take_ready() {
    std::vector<pollfd> files = {{signals_.file(), POLLIN, 0}};
    for (const LabProgram& run : runs_) {
      for (const LabStream& stream : run.streams) files.push_back({stream.file.number(), POLLIN, 0});
      files.push_back({run.handle.number(), POLLIN, 0});
    }
    if (poll(files.data(), files.size(), patience()) < 0) return errno == EINTR;
    std::size_t at = 1;
    for (LabProgram& run : runs_) {
      for (LabStream& stream : run.streams) {
        if (files[at++].revents != 0) take(run, stream);
      }
      if (files[at++].revents != 0) end(run);
    }
    if (const std::optional<int> signal = signals_.arrived()) {
      if (!stopping_) ended_.signal = signal;
      return stop();
    }
    if (!deadline_ || Clock::now() < *deadline_) return true;
    if (stopping_) return false;
    ended_.late = true;
    if (events_.late) events_.late();
    return stop();
  }

  // In ms, for poll().
  int patience() const {
    if (!deadline_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
  }

  // Asks all to end; false if they were asked before.
  bool stop() {
    if (stopping_) return false;
    stopping_ = true;
    deadline_ = Clock::now() + kGrace;
    for (const LabProgram& run : runs_) {
      if (run.handle.valid()) lab_.stop(run.process);
    }
    return true;
  }

  void take(const LabProgram& run, LabStream& stream) const {
    char buffer[65536];
    while (stream.file.valid()) {
      const ssize_t count = read(stream.file.number(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) stream.file = real::Descriptor();
      if (count <= 0) return;
      stream.line.append(buffer, static_cast<std::size_t>(count));
      std::size_t from = 0;
      for (std::size_t to = 0; (to = stream.line.find('\n', from)) != std::string::npos; from = to + 1)
        report_line(run, stream, stream.line.substr(from, to - from));
      stream.line.erase(0, from);
      if (events_.flushed) events_.flushed();
    }
  }

  void report_line(const LabProgram& run, const LabStream& stream, const std::string& line) const {
    if (events_.line) events_.line({run.name, stream.errors, line});
  }

  void end(LabProgram& run) {
    run.handle = real::Descriptor();
    for (LabStream& stream : run.streams) take(run, stream);
    const auto ended = lab_.wait(run.process, kEnded);
    if (!ended || (WIFEXITED(*ended) && WEXITSTATUS(*ended) == 0) || stopping_) return;
    ended_.failed = true;
    if (events_.failed) events_.failed(run.name, how(*ended));
  }

  static std::string how(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }

  real::Lab& lab_;
  const Cluster& cluster_;
  const Signals& signals_;
  const LabEvents& events_;
  std::vector<LabProgram> runs_;
  LabRun ended_;
  bool stopping_ = false;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace

Result<LabRun> run_in_lab(real::Lab& lab, const Cluster& cluster, const std::vector<std::string>& command,
                          std::optional<Duration> deadline, const Signals& signals, const LabEvents& events) {
  LabPrograms programs(lab, cluster, signals, events);
  if (const auto started = programs.start(command); !started) return tl::unexpected(started.error());
  return programs.wait(deadline);
}

std::vector<std::string> lab_environment(const Cluster& cluster, MachineId machine) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) all.push_back(addresses(cluster, MachineId(i)));
  return {"WEIR_MACHINE=" + cluster.machine(machine).name, fmt::format("WEIR_RANK={}", machine),
          fmt::format("WEIR_MACHINES={}", cluster.machines().size()),
          fmt::format("WEIR_ADDRESSES={}", fmt::join(all, ","))};
}

}  // namespace weir
