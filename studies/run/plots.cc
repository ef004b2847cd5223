#include "studies/run/plots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "backends/real/process/child.h"
#include "backends/real/process/clock.h"
#include "backends/real/process/program.h"

namespace weir {
namespace {

// Finds matplotlib without loading it, which takes a while.
constexpr const char* kFindsMatplotlib =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";

constexpr Duration kPlotPatience(600'000'000'000);

enum class Output { kShown, kHidden };

// Runs the command and waits. Returns its exit status; none if it did not start, crashed, or was killed
// because it did not end.
std::optional<int> status_of(std::vector<std::string> command, Output output) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == Output::kHidden) {
    for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_WRONLY, 0);
    }
  }
  posix_spawnattr_t attributes;  // this process may ignore SIGPIPE; the command must not
  sigset_t unignored;
  sigemptyset(&unignored);
  sigaddset(&unignored, SIGPIPE);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &unignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::fflush(nullptr);
  pid_t process = -1;
  const int error =
      posix_spawnp(&process, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::nullopt;
  const std::optional<int> status = real::wait_for_child(process, real::Clock::monotonic() + kPlotPatience);
  if (!status) {
    kill(process, SIGKILL);
    real::wait_for_child(process, real::Clock::monotonic() + kPlotPatience);
    return std::nullopt;
  }
  return *status >= 0 && WIFEXITED(*status) ? std::optional(WEXITSTATUS(*status)) : std::nullopt;
}

// plots/ is at the root of a checkout, two folders above build/release/weir, or where it was installed.
std::optional<std::string> plot_program() {
  std::error_code error;
  const std::filesystem::path self = real::program_path().parent_path();
  for (const char* place : {"../../plots/plot.py", "../share/weir/plots/plot.py"}) {
    const std::filesystem::path program = (self / place).lexically_normal();
    if (std::filesystem::is_regular_file(program, error)) return program.string();
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> draw_plots(const std::string& folder) {
  const std::optional<std::string> program = plot_program();
  if (!program) {
    return fmt::format(
        "Plots were skipped: no plots/ where weir was built or installed; from a checkout: plots/plot.py {}",
        folder);
  }
  for (const std::string& python : {std::string("python3"), std::string("/usr/bin/python3")}) {
    if (status_of({python, "-c", kFindsMatplotlib}, Output::kHidden) != 0) continue;
    if (status_of({python, *program, folder}, Output::kShown) == 0) return std::string();
    return failure(fmt::format("the plots failed, or took more than 10 minutes; to see why: {} {} {}", python,
                               *program, folder));
  }
  return fmt::format(
      "Plots were skipped: no python3 with matplotlib; install python3-matplotlib, then: /usr/bin/python3 {} "
      "{}",
      *program, folder);
}

}  // namespace weir
