#include "backends/real/lab/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "backends/real/process/program.h"
#include "backends/real/process/threads.h"

namespace weir::real {
namespace {

constexpr unsigned kDeadline = 60;  // s
constexpr unsigned kDeadlineOfWish = 5;
constexpr int kNoNamespace = 125;
constexpr int kNoProgram = 127;

// A file in memory, open for reading from its start.
Descriptor file_with(const std::string& text) {
  Descriptor file(memfd_create("weir-lab", MFD_CLOEXEC));
  std::size_t written = 0;
  while (file.valid() && written < text.size()) {
    const ssize_t count = write(file.number(), text.data() + written, text.size() - written);
    if (count <= 0) return Descriptor();
    written += static_cast<std::size_t>(count);
  }
  if (file.valid()) lseek(file.number(), 0, SEEK_SET);
  return file;
}

std::string text_of(const Descriptor& file) {
  std::string text(4096, '\0');
  const ssize_t size = pread(file.number(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

unsigned deadline(const Wiring::Batch& batch) { return batch.needed ? kDeadline : kDeadlineOfWish; }

int write_settings(const std::string& lines) {
  std::size_t from = 0;
  while (from < lines.size()) {
    const std::size_t end = lines.find('\n', from);
    const std::size_t equals = lines.find('=', from);
    const std::string path = "/proc/sys/" + lines.substr(from, equals - from);
    std::ofstream file(path);
    file << lines.substr(equals + 1, end - equals - 1) << std::flush;
    if (!file) {
      dprintf(STDERR_FILENO, "cannot write %s\n", path.c_str());
      return 1;
    }
    from = end + 1;
  }
  return 0;
}

// By default, the kernel handles what enters a namespace on the CPU that sent it. With many CPUs, packets of
// a connection would overtake each other, and TCP would take that for losses. So each connection gets one
// CPU. With few CPUs this is not worth their time.
int steer(const std::string& interfaces) {
  constexpr std::size_t kFewCpus = 4;
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() <= kFewCpus) return 0;
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      mount("sysfs", "/sys", "sysfs", 0, nullptr) !=
          0)  // it shows the interfaces of the namespace that mounts it
    return 1;
  std::istringstream names(interfaces);
  for (std::string name; names >> name;) {
    std::ofstream file(fmt::format("/sys/class/net/{}/queues/rx-0/rps_cpus", name));
    file << cpu_mask(cpus) << std::flush;
    if (!file) return 1;
  }
  return 0;
}

// Becomes the program, if it can be found.
void become(const std::string& tool) {
  // An installed weir brings its own programs. The loader replaces $ORIGIN by the tool's folder.
  const std::string own = real::program_path().parent_path() / "../libexec/weir" / tool;
  char libraries[] = "LD_LIBRARY_PATH=$ORIGIN/../../lib/weir";
  char* const environment[] = {libraries, nullptr};
  execle(own.c_str(), own.c_str(), "-batch", "-", nullptr, environment);
  // Distributions keep these programs in folders that users' PATH often lacks.
  for (const std::string& folder : {std::string(), std::string("/usr/sbin/"), std::string("/sbin/")}) {
    const std::string program = folder + tool;
    execlp(program.c_str(), program.c_str(), "-batch", "-", nullptr);
  }
}

// Runs in the child and never returns.
[[noreturn]] void run(const Wiring::Batch& batch, const Descriptor& space,
                      const std::vector<Descriptor>& machines, const Descriptor& input,
                      const Descriptor& output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(deadline(batch));
  if (setns(space.number(), CLONE_NEWNET) != 0) _exit(kNoNamespace);
  dup2(input.number(), STDIN_FILENO);
  dup2(output.number(), STDOUT_FILENO);
  dup2(output.number(), STDERR_FILENO);
  if (batch.tool == "sysctl") _exit(write_settings(batch.lines));
  if (batch.tool == "steer") _exit(steer(batch.lines));
  // Only batches of the switch name machines. The keeper has left numbers from kFirstFile on free.
  if (!batch.machine.valid()) {
    for (std::size_t i = 0; i < machines.size(); ++i)
      dup2(machines[i].number(), Wiring::kFirstFile + static_cast<int>(i));
  }
  become(batch.tool);
  _exit(kNoProgram);
}

}  // namespace

std::string cpu_mask(const std::vector<int>& cpus) {
  std::map<int, std::uint32_t> words;
  for (const int cpu : cpus) words[cpu / 32] |= std::uint32_t{1} << (cpu % 32);
  std::string mask;
  for (int word = words.rbegin()->first; word >= 0; --word)
    mask += fmt::format("{:08x}{}", words[word], word > 0 ? "," : "");
  return mask;
}

Result<void> run_batch(const Wiring::Batch& batch, const Descriptor& space,
                       const std::vector<Descriptor>& machines) {
  const Descriptor input = file_with(batch.lines);
  const Descriptor output = file_with("");
  if (!input.valid() || !output.valid()) return failure("not enough memory for the lab's commands");
  const pid_t process = fork();
  if (process < 0)
    return failure(fmt::format("cannot start a process for {}: {}", batch.tool, std::strerror(errno)));
  if (process == 0) run(batch, space, machines, input, output);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram)
    return failure(fmt::format("program '{}' is missing; install the package iproute2", batch.tool));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoNamespace)
    return failure("cannot enter a network namespace of the lab; is setns forbidden here?");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return failure(fmt::format("{} -batch did not end within {} s", batch.tool, deadline(batch)));
  const std::string where =
      batch.machine.valid() ? fmt::format("machine {}", batch.machine) : std::string("the switch");
  return failure(
      fmt::format("{} -batch failed in {}: {}\nThe kernel needs veth, bridge and sch_htb; as root: "
                  "modprobe -a veth bridge sch_htb",
                  batch.tool, where, text_of(output)));
}

}  // namespace weir::real
