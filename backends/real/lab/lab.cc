#include "backends/real/lab/lab.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "backends/real/lab/cpu_shares.h"
#include "backends/real/lab/message.h"
#include "core/base/check.h"
#include "core/base/hash.h"

namespace weir::real {
namespace {

constexpr Duration kPatience = Duration(10'000'000'000);
constexpr std::size_t kLongestName = 60;  // an address holds 107 bytes
constexpr int kNotExecuted = 127;

// An abstract address, not a file: the kernel forgets it when the listening process ends.
struct Address {
  sockaddr_un name = {};
  socklen_t size = 0;

  explicit Address(const std::string& lab) {
    const std::string text =
        fmt::format("weir-lab/{}/{}/{:x}", geteuid(), lab.substr(0, kLongestName), fnv1a(lab));
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  const sockaddr* of() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Descriptor local_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// A connection to the lab's keeper, if there is one and it belongs to this user.
Descriptor connected(const std::string& lab) {
  const Address address(lab);
  Descriptor file = local_socket();
  ucred who = {};
  socklen_t size = sizeof who;
  if (!file.valid() || connect(file.number(), address.of(), address.size) != 0 ||
      getsockopt(file.number(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid())
    file = Descriptor();
  return file;
}

// Identifies all that the lab is made from.
std::uint64_t fingerprint(const Wiring& wired, const Cluster& cluster) {
  return fnv1a(fmt::format("{}{}", wired.text(), fmt::join(cores_of(cluster), " ")));
}

// Removes what is left once no other process holds the lab: its folders.
void end_shares(Guard& guard) {
  if (guard.process > 0) (void)relieve(guard, kSharesPatience);
}

Error no_lab(const std::string& name) {
  return Error{fmt::format("no lab of '{}' is up; start one with: weir lab up TOPOLOGY", name)};
}

}  // namespace

Result<void> Lab::check(const Cluster& cluster) {
  const auto wired = wiring(cluster);
  return wired ? Result<void>() : tl::unexpected(wired.error());
}

Result<std::unique_ptr<Lab>> Lab::up(const Cluster& cluster) {
  const auto wired = wiring(cluster);
  if (!wired) return tl::unexpected(wired.error());
  auto shares = share_cpus(cluster);
  auto held = hold(*wired, cluster.machines().size(), shares ? &*shares : nullptr);
  Guard guard = shares ? std::move(shares->guard) : Guard();
  guard.pipe = Descriptor();  // the holder has a copy
  if (held) return std::unique_ptr<Lab>(new Lab(std::move(*held), std::move(guard), getpid()));
  end_shares(guard);
  return tl::unexpected(held.error());
}

Result<std::unique_ptr<Lab>> Lab::join(const Cluster& cluster) {
  const auto wired = wiring(cluster);
  if (!wired) return tl::unexpected(wired.error());
  const Descriptor keeper = connected(cluster.name());
  if (!keeper.valid()) return tl::unexpected(no_lab(cluster.name()));
  auto kept = ask(keeper, Request::kJoin);
  if (!kept) return tl::unexpected(kept.error());
  if (kept->wiring != fingerprint(*wired, cluster)) {
    return failure(
        fmt::format("the running lab of '{0}' has another topology; end it with: weir lab down TOPOLOGY",
                    cluster.name()));
  }
  auto held = hold_beside(std::move(kept->namespaces));
  if (!held) return tl::unexpected(held.error());
  return std::unique_ptr<Lab>(new Lab(std::move(*held), Guard(), getpid()));
}

Result<Keeper> Lab::keep(const Cluster& cluster) {
  const auto wired = wiring(cluster);
  if (!wired) return tl::unexpected(wired.error());
  const Address address(cluster.name());
  Descriptor listener = local_socket();
  if (!listener.valid() || bind(listener.number(), address.of(), address.size) != 0 ||
      listen(listener.number(), SOMAXCONN) != 0) {
    if (errno != EADDRINUSE)
      return failure(fmt::format("cannot make a socket for a lab: {}", std::strerror(errno)));
    return failure(
        fmt::format("a lab of '{}' is already up; end it with: weir lab down TOPOLOGY", cluster.name()));
  }
  auto shares = share_cpus(cluster);
  const auto held = hold_for_all(*wired, cluster.machines().size(), fingerprint(*wired, cluster),
                                 shares ? &*shares : nullptr, listener);
  if (!held) {
    if (shares) end_shares(shares->guard);
    return tl::unexpected(held.error());
  }
  Keeper keeper{
      held->process,
      {},
      shares ? Result<std::string>(shares->folder) : Result<std::string>(tl::unexpected(shares.error()))};
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    keeper.networks.push_back(
        fmt::format("/proc/{}/fd/{}", keeper.process, network_file(cluster.machines().size(), i)));
  }
  return keeper;
}

bool Lab::kept(const std::string& name) { return connected(name).valid(); }

Result<void> Lab::down(const std::string& name) {
  sweep_cpu_groups();  // all that a lab leaves if it is killed with its guard
  const Descriptor keeper = connected(name);
  if (!keeper.valid()) return tl::unexpected(no_lab(name));
  const auto kept = ask(keeper, Request::kEnd);
  if (!kept) return tl::unexpected(kept.error());
  if (!readable(kept->namespaces.keeper.number(), kPatience))
    return failure(fmt::format("the lab of '{}' does not end; something keeps its processes alive", name));
  const Descriptor& guard = kept->namespaces.guard;
  if (guard.valid()) (void)readable(guard.number(), kSharesPatience);
  return {};
}

Lab::~Lab() {
  if (getpid() != owner_) return;
  kill(held_.process, SIGKILL);
  processes_.push_back(held_.process);
  for (const pid_t process : processes_) {
    int ignored = 0;
    while (waitpid(process, &ignored, 0) < 0 && errno == EINTR) {
    }
  }
  end_shares(guard_);
}

Result<pid_t> Lab::spawn(MachineId machine, const std::function<int()>& body) {
  auto process = start_in(held_.namespaces, machine, body);
  if (process) processes_.push_back(*process);
  return process;
}

Result<pid_t> Lab::spawn(MachineId machine, const Program& program) {
  WEIR_CHECK(!program.arguments.empty());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Descriptor here(ends[0]);
  Descriptor there(ends[1]);
  auto process = spawn(machine, [&] {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setsid();
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    if (program.output >= 0) dup2(program.output, STDOUT_FILENO);
    if (program.error >= 0) dup2(program.error, STDERR_FILENO);
    std::vector<std::string> environment = program.environment;  // putenv() keeps pointers to these
    for (std::string& variable : environment) putenv(variable.data());
    std::vector<char*> arguments;
    for (const std::string& argument : program.arguments)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int why = errno;
    (void)!write(there.number(), &why, sizeof why);
    return kNotExecuted;
  });
  if (!process) return process;
  there = Descriptor();
  int why = 0;
  if (readable(here.number(), kPatience) && read(here.number(), &why, sizeof why) == sizeof why) {
    (void)wait(*process, kPatience);
    return failure(fmt::format("{}: {}", program.arguments[0], std::strerror(why)));
  }
  return process;
}

Result<void> Lab::enter(MachineId machine) const {
  join_cpu_group(held_.namespaces.groups, machine);
  return real::enter(held_.namespaces, machine);
}

Result<int> Lab::wait(pid_t process, Duration patience) {
  const Descriptor handle = handle_of(process);
  if (!handle.valid())
    return failure(fmt::format("cannot wait for process {}: {}", process, std::strerror(errno)));
  if (!readable(handle.number(), patience))
    return failure(fmt::format("process {} did not end within {} s", process, patience.seconds()));
  int status = 0;
  if (waitpid(process, &status, 0) != process)
    return failure(fmt::format("process {} does not belong to the lab", process));
  processes_.erase(std::remove(processes_.begin(), processes_.end(), process), processes_.end());
  return status;
}

void Lab::stop(pid_t process) const {
  if (std::find(processes_.begin(), processes_.end(), process) != processes_.end()) kill(process, SIGTERM);
}

}  // namespace weir::real
