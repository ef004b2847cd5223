#include "apps/weir/nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "backends/real/clock.h"

namespace weir {
namespace {

constexpr int kMostStatus = 2;  // of weir node, when it has said why

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

// In this process's network. The child dies with this process.
Result<pid_t> start_here(const real::Program& program, const std::string& variable) {
  std::vector<char*> arguments;
  for (const std::string& argument : program.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));  // NOLINT
  arguments.push_back(nullptr);
  const std::size_t equals = variable.find('=');
  const std::string name = variable.substr(0, equals);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) return failure(fmt::format("no process for a machine: {}", std::strerror(errno)));
  if (process > 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setenv(name.c_str(), variable.c_str() + equals + 1, 1);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(input, STDIN_FILENO);
  ::dup2(program.output, STDOUT_FILENO);
  ::dup2(program.error, STDERR_FILENO);
  if (::getppid() == parent) ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

}  // namespace

Nodes::~Nodes() {
  for (const Child& child : children_) {
    if (!child.ended) ::kill(child.process, SIGKILL);
  }
  wait(Duration::from_seconds(5));
}

Result<void> Nodes::start(MachineId machine, const std::string& key, double patience) {
  const real::Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const std::string address = lab_ != nullptr ? real::Lab::address(machine, 0) : "127.0.0.1";
  real::Program program;
  program.arguments = {"/proc/self/exe", "node",  "--machine",  fmt::format("{}", machine),
                       "--listen",       address, "--patience", fmt::format("{}", patience)};
  program.environment = {"WEIR_JOB=" + key};
  program.output = nowhere.number();
  program.error = nowhere.number();
  const auto process =
      lab_ != nullptr ? lab_->spawn(machine, program) : start_here(program, program.environment.front());
  if (!process) return tl::unexpected(process.error());
  children_.push_back({machine, *process, false});
  return {};
}

std::optional<int> Nodes::ended(const Child& child) {
  if (lab_ != nullptr) {
    const auto status = lab_->wait(child.process, Duration(0));
    return status ? std::optional(*status) : std::nullopt;
  }
  int status = 0;
  return ::waitpid(child.process, &status, WNOHANG) == child.process ? std::optional(status) : std::nullopt;
}

Result<void> Nodes::watch() {
  for (Child& child : children_) {
    if (child.ended) continue;
    const std::optional<int> status = ended(child);
    if (!status) continue;
    child.ended = true;
    // One that failed has told the coordinator why.
    if (WIFEXITED(*status) && WEXITSTATUS(*status) <= kMostStatus) continue;
    return failure(
        fmt::format("the process of {} {}", cluster_->machine(child.machine).name, how_it_ended(*status)));
  }
  return {};
}

void Nodes::wait(Duration patience) {
  const Instant until = real::Clock::monotonic() + patience;
  for (Child& child : children_) {
    while (!child.ended) {
      child.ended = ended(child).has_value();
      if (child.ended || real::Clock::monotonic() >= until) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace weir
