#include "backends/real/lab/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "backends/real/lab/cpu_shares.h"
#include "backends/real/lab/message.h"
#include "core/base/check.h"

namespace weir::real {
namespace {

constexpr Duration kPatience = Duration(10'000'000'000);

bool same(const Descriptor& one, const Descriptor& other) {
  struct stat first = {};
  struct stat second = {};
  return fstat(one.number(), &first) == 0 && fstat(other.number(), &second) == 0 &&
         first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

Result<void> join(const Descriptor& space, int kind, const char* name) {
  if (setns(space.number(), kind) == 0) return {};
  return failure(fmt::format("cannot enter the {} namespace of the lab: {}", name, std::strerror(errno)));
}

// Entering a mount namespace changes the folder to its root. Goes back to where the process was.
Result<void> join_files(const Descriptor& mount) {
  char folder[PATH_MAX];
  const bool known = getcwd(folder, sizeof folder) != nullptr;
  if (auto joined = join(mount, CLONE_NEWNS, "mount"); !joined) return joined;
  if (known && chdir(folder) != 0)
    return failure(fmt::format("{}: {}; a lab only sees folders that are older than the lab", folder,
                               std::strerror(errno)));
  return {};
}

}  // namespace

Descriptor own_namespace(const char* kind) {
  return Descriptor(open(fmt::format("/proc/self/ns/{}", kind).c_str(), O_RDONLY | O_CLOEXEC));
}

Descriptor handle_of(pid_t process) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

pid_t fork_sibling() {
  return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

Result<void> enter(const Namespaces& namespaces, MachineId machine) {
  WEIR_CHECK(machine.index() < namespaces.machines.size(), machine);
  if (!same(namespaces.user, own_namespace("user"))) {
    if (auto joined = join(namespaces.user, CLONE_NEWUSER, "user"); !joined) return joined;
  }
  if (auto joined = join_files(namespaces.mount); !joined) return joined;
  return join(namespaces.machines[machine.index()], CLONE_NEWNET, "network");
}

Result<pid_t> start_in(const Namespaces& namespaces, MachineId machine, const std::function<int()>& body) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failure(fmt::format("cannot start a process in the lab: {}", std::strerror(errno)));
  Descriptor here(ends[0]);
  Descriptor there(ends[1]);
  // A process enters the namespaces and forks a sibling there. That process has a number outside as well.
  const pid_t guide = fork();
  if (guide < 0) return failure(fmt::format("cannot start a process in the lab: {}", std::strerror(errno)));
  if (guide == 0) {
    join_cpu_group(namespaces.groups, machine);  // as the user who made it; others may lack the right
    auto entered = enter(namespaces, machine);
    if (entered) entered = join(namespaces.process, CLONE_NEWPID, "process");
    const pid_t process = entered ? fork_sibling() : -1;
    if (process == 0) {
      there = Descriptor();
      here = Descriptor();
      _exit(body());
    }
    const std::string why = entered ? std::strerror(errno) : entered.error().text;
    (void)send(there.number(), process > 0 ? fmt::format("{}", process) : "!" + why, {}, kPatience);
    _exit(0);
  }
  there = Descriptor();
  auto answer = receive(here.number(), kPatience);
  int ignored = 0;
  while (waitpid(guide, &ignored, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return failure("cannot start a process in the lab: " + answer.error().text);
  if (answer->text.empty() || answer->text[0] == '!')
    return failure("cannot start a process in the lab: " + answer->text.substr(answer->text.empty() ? 0 : 1));
  return static_cast<pid_t>(std::atoi(answer->text.c_str()));
}

}  // namespace weir::real
