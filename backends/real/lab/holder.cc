#include "backends/real/lab/holder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "backends/real/lab/batch.h"
#include "backends/real/lab/message.h"

namespace weir::real {
namespace {

constexpr Duration kPatience = Duration(120'000'000'000);  // wiring hundreds of machines takes half a minute
constexpr Duration kShortPatience = Duration(2'000'000'000);

// The arguments of a holder.
struct Orders {
  const Wiring* wiring = nullptr;  // null: joins another lab
  std::size_t machines = 0;
  const Namespaces* kept = nullptr;
  const CpuShares* shares = nullptr;     // null: no control groups
  std::vector<const Descriptor*> lives;  // processes (pidfd); the holder ends when one of them does
  const Descriptor* listener = nullptr;
  std::uint64_t fingerprint = 0;
};

Result<void> write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return failure(fmt::format("cannot write {}", path));
  return {};
}

Result<void> not_allowed(const char* what) {
  return failure(fmt::format(
      "a lab needs network namespaces, but {}: {}. Run weir as root, in a container with the capabilities "
      "SYS_ADMIN and NET_ADMIN, or allow users to make namespaces: sysctl "
      "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), kernel.unprivileged_userns_clone=1 (Debian), "
      "user.max_user_namespaces above 0",
      what, std::strerror(errno)));
}

// Users keep only their own identity, under the name of root.
Result<void> unshare_as_user(int kinds) {
  const std::string user = fmt::format("0 {} 1", geteuid());
  const std::string group = fmt::format("0 {} 1", getegid());
  if (unshare(kinds | CLONE_NEWUSER) != 0) return not_allowed("users may not make them here");
  if (auto written = write_file("/proc/self/setgroups", "deny"); !written) return written;
  if (auto written = write_file("/proc/self/uid_map", user); !written) return written;
  return write_file("/proc/self/gid_map", group);
}

Result<void> separate(const Orders& orders) {
  if (orders.kept != nullptr) {
    if (auto entered = enter(*orders.kept, MachineId(0)); !entered) return entered;
    if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0) return not_allowed("this process cannot make them");
    return {};
  }
  constexpr int kKinds = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID;
  if (unshare(kKinds) == 0) return {};
  return unshare_as_user(kKinds);
}

// Closes all files that the parent had open, except these.
void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int file : kept) {
    const auto number = static_cast<unsigned>(file);
    if (number > from) syscall(SYS_close_range, from, number - 1, 0);
    from = std::max(from, number + 1);
  }
  syscall(SYS_close_range, from, ~0U, 0);
}

void become_quiet(const Orders& orders, const Descriptor& socket) {
  setsid();
  (void)!chdir("/");
  prctl(PR_SET_NAME, "weir-lab");
  std::vector<int> kept = {socket.number()};
  for (const Descriptor* life : orders.lives) kept.push_back(life->number());
  if (orders.listener != nullptr) kept.push_back(orders.listener->number());
  if (orders.shares != nullptr) {
    kept.push_back(orders.shares->groups.number());
    kept.push_back(orders.shares->guard.pipe.number());
    kept.push_back(orders.shares->handle.number());
  }
  const int nothing = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) dup2(nothing, standard);
  close_all_but(kept);
  // The first process of a namespace gets no signals except SIGKILL, unless it handles them.
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

// A /proc that shows the lab's processes under their own numbers. Where it is forbidden, as in most
// containers, programs see the host's /proc, which harms few of them.
void mount_own_files() {
  mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
  mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

Result<std::vector<Descriptor>> make_networks(std::size_t machines) {
  const Descriptor own = own_namespace("net");
  std::vector<Descriptor> networks;
  for (std::size_t i = 0; i < machines; ++i) {
    if (unshare(CLONE_NEWNET) != 0)
      return failure(
          fmt::format("cannot make a network namespace for machine {}: {}", i, std::strerror(errno)));
    const Descriptor made = own_namespace("net");
    // Avoids the numbers under which `ip` finds them.
    networks.emplace_back(dup3(made.number(), network_file(machines, i), O_CLOEXEC));
    if (!networks.back().valid())
      return failure(fmt::format("cannot keep a file open for machine {}: {}; try ulimit -n 4096", i,
                                 std::strerror(errno)));
  }
  if (setns(own.number(), CLONE_NEWNET) != 0)
    return failure(fmt::format("cannot return to the switch's namespace: {}", std::strerror(errno)));
  return networks;
}

Result<Namespaces> make(const Orders& orders) {
  Namespaces made;
  made.user = own_namespace("user");
  made.mount = own_namespace("mnt");
  made.process = own_namespace("pid");
  made.keeper = handle_of(getpid());
  if (!made.user.valid() || !made.mount.valid() || !made.process.valid() || !made.keeper.valid())
    return failure(fmt::format("cannot open the lab's namespaces: {}", std::strerror(errno)));
  if (orders.wiring == nullptr) return made;
  auto networks = make_networks(orders.machines);
  if (!networks) return tl::unexpected(networks.error());
  made.machines = std::move(*networks);
  const Descriptor own = own_namespace("net");
  for (const Wiring::Batch& batch : orders.wiring->batches) {
    const Descriptor& space = batch.machine.valid() ? made.machines[batch.machine.index()] : own;
    const auto run = run_batch(batch, space, made.machines);
    if (!run && batch.needed) return tl::unexpected(run.error());
  }
  return made;
}

std::vector<int> numbers(const Orders& orders, const Namespaces& namespaces) {
  std::vector<int> files = {namespaces.user.number(), namespaces.mount.number(), namespaces.process.number(),
                            namespaces.keeper.number()};
  if (orders.shares != nullptr) {
    files.push_back(orders.shares->groups.number());
    files.push_back(orders.shares->handle.number());
  }
  for (const Descriptor& machine : namespaces.machines) files.push_back(machine.number());
  return files;
}

// What a holder answers when it is up, with the files of its namespaces. Any other answer is an error text.
constexpr const char* kUp = "up ";
constexpr const char* kWithShares = " shares";

std::string greeting(const Orders& orders) {
  return kUp + std::to_string(orders.fingerprint) + (orders.shares != nullptr ? kWithShares : "");
}

Result<Kept> take(int socket, Duration patience) {
  auto message = receive(socket, patience);
  if (!message) return tl::unexpected(message.error());
  std::vector<Descriptor>& files = message->files;
  char* rest = nullptr;
  Kept taken;
  if (message->text.rfind(kUp, 0) == 0)
    taken.wiring = std::strtoull(message->text.c_str() + std::strlen(kUp), &rest, 10);
  const bool shares = rest != nullptr && std::strcmp(rest, kWithShares) == 0;
  std::size_t next = shares ? 6 : 4;
  if (rest == nullptr || files.size() < next) return failure(std::move(message->text));
  Namespaces& made = taken.namespaces;
  made.user = std::move(files[0]);
  made.mount = std::move(files[1]);
  made.process = std::move(files[2]);
  made.keeper = std::move(files[3]);
  if (shares) {
    made.groups = std::move(files[4]);
    made.guard = std::move(files[5]);
  }
  for (; next < files.size(); ++next) made.machines.push_back(std::move(files[next]));
  return taken;
}

// Serves one connection, which may come from any process on this host.
void serve(const Orders& orders, const Namespaces& made) {
  const Descriptor guest(accept4(orders.listener->number(), nullptr, nullptr, SOCK_CLOEXEC));
  ucred who = {};
  socklen_t size = sizeof who;
  if (getsockopt(guest.number(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) return;
  const auto request = receive(guest.number(), kShortPatience);
  if (!request) return;
  (void)send(guest.number(), greeting(orders), numbers(orders, made), kShortPatience);
  if (request->text == "end") _exit(0);
}

[[noreturn]] void stand(const Orders& orders, const Namespaces& made) {
  std::signal(SIGCHLD, SIG_IGN);  // the kernel removes orphans of the lab
  std::vector<pollfd> files;
  for (const Descriptor* life : orders.lives) files.push_back({life->number(), POLLIN, 0});
  if (orders.listener != nullptr) files.push_back({orders.listener->number(), POLLIN, 0});
  for (;;) {
    if (poll(files.data(), files.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < orders.lives.size(); ++i) {
      if (files[i].revents != 0) _exit(0);
    }
    if (orders.listener != nullptr && files.back().revents != 0) serve(orders, made);
  }
}

[[noreturn]] void be_holder(const Orders& orders, const Descriptor& socket) {
  become_quiet(orders, socket);
  mount_own_files();
  auto made = make(orders);
  if (!made) {
    (void)send(socket.number(), made.error().text, {}, kShortPatience);
    _exit(1);
  }
  (void)send(socket.number(), greeting(orders), numbers(orders, *made), kShortPatience);
  stand(orders, *made);
}

// A child enters the new namespaces and forks the holder there as its sibling. Only a child of a process that
// made a process namespace is in it.
[[noreturn]] void be_guide(const Orders& orders, const Descriptor& socket, const Descriptor& of_holder) {
  if (const auto separated = separate(orders); !separated) {
    (void)send(socket.number(), "!" + separated.error().text, {}, kShortPatience);
    _exit(1);
  }
  const pid_t holder = fork_sibling();
  if (holder == 0) be_holder(orders, of_holder);
  (void)send(socket.number(), fmt::format("{}", holder), {}, kShortPatience);
  _exit(0);
}

void reap(pid_t process) {
  int ignored = 0;
  while (waitpid(process, &ignored, 0) < 0 && errno == EINTR) {
  }
}

void end(pid_t holder) {
  if (holder <= 0) return;
  kill(holder, SIGKILL);
  reap(holder);
}

Result<Held> launch(const Orders& orders) {
  int ends[2];
  int guide_ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, guide_ends) != 0)
    return failure(fmt::format("cannot make sockets for a lab: {}", std::strerror(errno)));
  const Descriptor here(ends[0]);
  Descriptor there(ends[1]);
  const Descriptor guide_here(guide_ends[0]);
  Descriptor guide_there(guide_ends[1]);
  const pid_t guide = fork();
  if (guide < 0) return failure(fmt::format("cannot start a process for a lab: {}", std::strerror(errno)));
  if (guide == 0) be_guide(orders, guide_there, there);
  there = Descriptor();
  guide_there = Descriptor();
  const auto answer = receive(guide_here.number(), kShortPatience * 5);
  reap(guide);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->text.empty() || answer->text[0] == '!')
    return failure(answer->text.substr(answer->text.empty() ? 0 : 1));
  Held held;
  held.process = static_cast<pid_t>(std::atoi(answer->text.c_str()));
  if (held.process <= 0) return failure("cannot start a process for a lab");
  auto taken = take(here.number(), kPatience);
  if (!taken) {
    end(held.process);
    return tl::unexpected(taken.error());
  }
  held.namespaces = std::move(taken->namespaces);
  return held;
}

}  // namespace

Result<Held> hold(const Wiring& wiring, std::size_t machines, const CpuShares* shares) {
  const Descriptor owner = handle_of(getpid());
  if (!owner.valid()) return failure("a lab needs Linux 5.10 or later");
  return launch({.wiring = &wiring, .machines = machines, .shares = shares, .lives = {&owner}});
}

Result<Held> hold_for_all(const Wiring& wiring, std::size_t machines, std::uint64_t fingerprint,
                          const CpuShares* shares, const Descriptor& listener) {
  return launch({.wiring = &wiring,
                 .machines = machines,
                 .shares = shares,
                 .listener = &listener,
                 .fingerprint = fingerprint});
}

Result<Held> hold_beside(Namespaces kept) {
  const Descriptor owner = handle_of(getpid());
  if (!owner.valid()) return failure("a lab needs Linux 5.10 or later");
  auto held = launch({.kept = &kept, .lives = {&owner, &kept.keeper}});
  if (!held) return held;
  held->namespaces.user = std::move(kept.user);
  held->namespaces.groups = std::move(kept.groups);
  held->namespaces.machines = std::move(kept.machines);
  return held;
}

Result<Kept> ask(const Descriptor& socket, Request request) {
  const char* const word = request == Request::kEnd ? "end" : "join";
  if (const auto asked = send(socket.number(), word, {}, kShortPatience); !asked)
    return tl::unexpected(asked.error());
  return take(socket.number(), kPatience);
}

}  // namespace weir::real
