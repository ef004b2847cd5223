#include "apps/weir/nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// In this process's network. The child dies with this process. Between fork and exec it calls nothing that
// another thread of this process might have locked.
Result<pid_t> start_here(NodeCommand command, int nowhere) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("no pipe: {}", std::strerror(errno)));
  const real::Descriptor reading(ends[0]);
  const real::Descriptor writing(ends[1]);
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  if (!command.variable.empty()) environment.push_back(command.variable);
  const std::vector<char*> arguments = pointers(command.arguments);
  const std::vector<char*> variables = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) return failure(fmt::format("no process for a machine: {}", std::strerror(errno)));
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(reading.number(), STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    if (::getppid() == parent) ::execvpe(arguments.front(), arguments.data(), variables.data());
    ::_exit(127);
  }
  ::fcntl(writing.number(), F_SETFL, O_NONBLOCK);
  if (::write(writing.number(), command.input.data(), command.input.size()) !=
      static_cast<ssize_t>(command.input.size())) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return failure("a machine's process does not take the job's key");
  }
  return process;
}

}  // namespace

Nodes::~Nodes() {
  for (const Child& child : children_) {
    if (!child.ended) ::kill(child.process, SIGKILL);
  }
  wait(Duration::from_seconds(5));
}

Result<void> Nodes::start(MachineId machine, const NodeCommand& command) {
  const real::Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Result<pid_t> process = 0;
  if (lab_ != nullptr) {
    process =
        lab_->spawn(machine, {command.arguments, {command.variable}, nowhere.number(), nowhere.number()});
  } else {
    process = start_here(command, nowhere.number());
  }
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
