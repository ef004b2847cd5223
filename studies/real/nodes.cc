#include "studies/real/nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "backends/real/process/child.h"
#include "backends/real/process/clock.h"

namespace weir {
namespace {

constexpr int kMostStatus = 2;             // of weir node, after it has said why
constexpr Duration kHeard{1'000'000'000};  // time in which the coordinator hears what a machine said

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

// Starts it in this process's network. The child dies with this process. Between fork and exec it calls
// nothing that another thread of this process might have locked.
Result<pid_t> start_here(NodeCommand command, int nowhere, int complaints) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const real::Descriptor reading(ends[0]);
  const real::Descriptor writing(ends[1]);
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  environment.insert(environment.end(), command.variables.begin(), command.variables.end());
  const std::vector<char*> arguments = pointers(command.arguments);
  const std::vector<char*> variables = pointers(environment);
  const pid_t process = real::fork_child();
  if (process < 0)
    return failure(fmt::format("cannot start a process for a machine: {}", std::strerror(errno)));
  if (process == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(reading.number(), STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(complaints, STDERR_FILENO);
    ::execvpe(arguments.front(), arguments.data(), variables.data());
    for (const std::string_view words :
         {std::string_view(arguments.front()), std::string_view(" cannot be run")})
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
    ::_exit(127);
  }
  ::fcntl(writing.number(), F_SETFL, O_NONBLOCK);
  if (::write(writing.number(), command.input.data(), command.input.size()) !=
      static_cast<ssize_t>(command.input.size())) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return failure("a machine's process does not read the job's key");
  }
  return process;
}

// The last line written to the file; empty if there is none.
std::string last_line(const real::Descriptor& file) {
  if (!file.valid()) return {};
  constexpr off_t kMost = 1000;
  const off_t size = ::lseek(file.number(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kMost)), '\0');
  const ssize_t got = ::pread(file.number(), text.data(), text.size(), std::max<off_t>(0, size - kMost));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);
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
  real::Descriptor complaints(::memfd_create("errors of a machine", MFD_CLOEXEC));
  const int errors = complaints.valid() ? complaints.number() : nowhere.number();
  Result<pid_t> process = 0;
  if (lab_ != nullptr) {
    process = lab_->spawn(machine, {command.arguments, command.variables, nowhere.number(), errors});
  } else {
    process = start_here(command, nowhere.number(), errors);
  }
  if (!process) return tl::unexpected(process.error());
  children_.push_back({machine, *process, std::nullopt, std::move(complaints)});
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
  const Instant now = real::Clock::monotonic();
  for (Child& child : children_) {
    if (!child.ended) {
      const std::optional<int> status = ended(child);
      if (!status) continue;
      child.ended = {now, *status};
    }
    // A process that failed has sent the coordinator the reason, if it ever reached it.
    const auto& [since, status] = *child.ended;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= kMostStatus && now - since < kHeard) continue;
    const std::string said = last_line(child.complaints);
    return failure(fmt::format("the process of {} {}{}{}", cluster_->machine(child.machine).name,
                               how_it_ended(status), said.empty() ? "" : ": ", said));
  }
  return {};
}

void Nodes::wait(Duration patience) {
  const Instant until = real::Clock::monotonic() + patience;
  for (Child& child : children_) {
    while (!child.ended) {
      if (const auto status = ended(child)) child.ended = {real::Clock::monotonic(), *status};
      if (child.ended || real::Clock::monotonic() >= until) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace weir
