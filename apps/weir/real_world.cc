#include "apps/weir/real_world.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "apps/weir/version.h"
#include "backends/real/clock.h"
#include "backends/real/descriptor.h"
#include "backends/real/job/coordinator.h"
#include "backends/real/job/host.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

// The processes of a job; whatever happens, none outlives this.
class Nodes {
 public:
  explicit Nodes(const Cluster& cluster) : cluster_(&cluster) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes() {
    for (const Child& child : children_) {
      if (!child.ended) ::kill(child.process, SIGKILL);
    }
    for (const Child& child : children_) {
      if (!child.ended) ::waitpid(child.process, nullptr, 0);
    }
  }

  /// Starts the machine's process, with the job's key on its standard input.
  Result<void> start(MachineId machine, const std::string& key, const RealSettings& settings) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("no pipe: {}", std::strerror(errno)));
    const real::Descriptor reading(ends[0]);
    const real::Descriptor writing(ends[1]);
    const std::string number = fmt::format("{}", machine);
    const std::string patience = fmt::format("{}", settings.patience);
    const char* arguments[] = {"weir",      "node",       "--machine",      number.c_str(), "--listen",
                               "127.0.0.1", "--patience", patience.c_str(), nullptr};
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) return failure(fmt::format("no process for a machine: {}", std::strerror(errno)));
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      ::dup2(reading.number(), STDIN_FILENO);
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      if (::getppid() == parent) ::execv("/proc/self/exe", const_cast<char* const*>(arguments));  // NOLINT
      ::_exit(127);
    }
    children_.push_back({machine, process, false});
    // The key fits a pipe.
    if (::write(writing.number(), key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
      return failure("a machine's process does not take the job's key");
    }
    return {};
  }

  /// Fails if one has ended, naming its machine.
  Result<void> watch() {
    for (Child& child : children_) {
      int status = 0;
      if (child.ended || ::waitpid(child.process, &status, WNOHANG) != child.process) continue;
      child.ended = true;
      // One that failed has said why to the coordinator, which says it.
      if (WIFEXITED(status) && WEXITSTATUS(status) <= kMostStatus) continue;
      return failure(
          fmt::format("the process of {} {}", cluster_->machine(child.machine).name, how_it_ended(status)));
    }
    return {};
  }

  /// Waits for all to end by themselves, but not for long.
  void wait(Duration patience) {
    const Instant until = real::Clock::monotonic() + patience;
    for (Child& child : children_) {
      while (!child.ended && real::Clock::monotonic() < until) {
        child.ended = ::waitpid(child.process, nullptr, WNOHANG) == child.process;
        if (!child.ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

 private:
  static constexpr int kMostStatus = 2;  // of weir node, when it has said why

  struct Child {
    MachineId machine;
    pid_t process;
    bool ended;
  };
  const Cluster* cluster_;
  std::vector<Child> children_;
};

Result<Record> run_locally(const Planned& planned, const RealSettings& settings) {
  // An abstract socket: it has no file, so nothing is left of it however this process ends.
  const auto name = real::make_token();
  if (!name) return tl::unexpected(name.error());
  const std::string job = "weir-" + real::hexadecimal(*name).substr(0, 16);
  const auto fresh = real::make_key(job, "ipc://@" + job);
  if (!fresh) return tl::unexpected(fresh.error());
  Nodes nodes(planned.cluster);
  for (std::size_t i = 0; i < planned.cluster.machines().size(); ++i) {
    if (auto started = nodes.start(MachineId(i), text(fresh->key), settings); !started)
      return tl::unexpected(started.error());
  }
  auto socket = real::ControlSocket::listen(*fresh);
  if (!socket) return tl::unexpected(socket.error());
  real::CoordinatorSettings how;
  how.version = version();
  how.patience = Duration::from_seconds(settings.patience);
  how.watch = [&nodes] { return nodes.watch(); };
  real::Coordinator coordinator(std::move(*socket), how);
  const real::InputsNote inputs = {whole_text(planned.experiment, planned.contender),
                                   planned.contender,
                                   planned.settings.iterations,
                                   settings.channels,
                                   settings.io_threads,
                                   settings.workers,
                                   settings.verify,
                                   settings.transport == "shm"};
  auto result = coordinator.run(inputs, planned.plan, planned.cluster);
  nodes.wait(Duration::from_seconds(result ? 2 : 0.2));
  if (!result) return tl::unexpected(result.error());
  return std::move(result->record);
}

}  // namespace

World local_world(const RealSettings& settings) {
  return {"processes on one host",
          fmt::format("transport={} channels={} io_threads={} workers={} verify={}", settings.transport,
                      settings.channels, settings.io_threads, settings.workers, settings.verify),
          [settings](const Planned& planned) { return run_locally(planned, settings); }, false};
}

}  // namespace weir
