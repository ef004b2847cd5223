#include "backends/real/lab/cpu_shares.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

#include "backends/real/lab/namespaces.h"

namespace weir::real {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The weight of a core, which is the kernel's weight of a process in no group, and the range of weights.
struct Scale {
  const char* file;
  std::int64_t core;
  std::int64_t least;
  std::int64_t most;
};
constexpr Scale kShares = {"cpu.shares", 1024, 2, 262144};
constexpr Scale kWeight = {"cpu.weight", 100, 1, 10000};
constexpr int kThreadsPerCpu = 16;  // most of a lab
constexpr const char* kPrefix = "weir-lab-";

const Scale& scale(int version) { return version == 1 ? kShares : kWeight; }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool has(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');) {
    if (one == word) return true;
  }
  return false;
}

// Writes at once, since the kernel answers each write.
Result<void> put(const std::string& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() && write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return {};
  return failure(fmt::format("cannot write '{}' to {}: {}", text, path, std::strerror(errno)));
}

// Whether the file lists the CPU controller.
bool names_cpu(const std::string& path) {
  std::istringstream names(text_of(path));
  for (std::string name; names >> name;) {
    if (name == "cpu") return true;
  }
  return false;
}

// Whether the group in that folder passes the CPU controller on to its children.
bool shares_cpu(const std::string& folder) { return names_cpu(folder + "/cgroup.subtree_control"); }

Result<void> make_folder(const CpuGroup& group, const std::string& folder, std::int64_t weight) {
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return failure(fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
  // A group that has processes itself, such as the lab's owner, can only have threaded children.
  if (group.version == 2 && text_of(folder + "/cgroup.type") == "domain invalid\n") {
    if (auto done = put(folder + "/cgroup.type", "threaded"); !done) return done;
  }
  return put(folder + "/" + scale(group.version).file, std::to_string(weight));
}

// Opens a folder and locks it against sweeps of dead labs' folders. The lock lasts as long as any process has
// the returned file open, or a copy of it. Not valid if the folder is gone, or another process has locked it.
Descriptor claimed(const std::string& folder, int how) {
  Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool ours = file.valid() && flock(file.number(), how) == 0 &&
                    access(folder.c_str(), F_OK) == 0;  // its last owner may have removed it
  return ours ? std::move(file) : Descriptor();
}

// Makes, opens and locks the lab's folder. Before that, a sweep may take it for a dead lab's.
Result<Descriptor> make_claimed(const CpuGroup& group, const std::string& lab, std::int64_t weight) {
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    const auto made = make_folder(group, lab, weight);
    if (made) {
      // A sweep locks it for a moment.
      if (Descriptor file = claimed(lab, LOCK_EX); file.valid()) return file;
    }
    if (attempt < kAttempts) continue;
    return made ? failure(fmt::format("cannot open and lock {}: {}", lab, std::strerror(errno)))
                : tl::unexpected(made.error());
  }
}

Result<Descriptor> make(const CpuGroup& group, const std::string& lab, const CpuWeights& weights) {
  if (group.version == 2 && !shares_cpu(group.folder)) {
    if (auto done = put(group.folder + "/cgroup.subtree_control", "+cpu"); !done)
      return tl::unexpected(done.error());
  }
  auto file = make_claimed(group, lab, weights.lab);
  if (!file) return file;
  if (group.version == 2) {
    if (auto done = put(lab + "/cgroup.subtree_control", "+cpu"); !done) return tl::unexpected(done.error());
  }
  for (std::size_t i = 0; i < weights.machines.size(); ++i) {
    if (auto done = make_folder(group, fmt::format("{}/{}", lab, i), weights.machines[i]); !done)
      return tl::unexpected(done.error());
  }
  return file;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->is_directory(failed)) found.push_back(at->path());
  }
  return found;
}

// Also removes what programs of the lab have made in it.
bool removed(const fs::path& folder) {
  for (const fs::path& within : folders_in(folder)) (void)removed(within);
  return rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

// The numbers of the threads in the group itself, one a line.
std::string threads_in(const CpuGroup& group, const fs::path& folder) {
  return text_of(folder / (group.version == 1 ? "tasks" : "cgroup.threads"));
}

// Moves what still runs in the group, and in its subgroups, into the group of that folder.
void move_out(const CpuGroup& group, const fs::path& from) {
  for (const fs::path& within : folders_in(from)) move_out(group, within);
  std::istringstream threads(threads_in(group, from));
  for (std::string thread; std::getline(threads, thread);) (void)put(group.folder + "/cgroup.procs", thread);
}

// Whether the group and its subgroups have no process.
bool deserted(const CpuGroup& group, const fs::path& folder) {
  const std::vector<fs::path> below = folders_in(folder);
  return threads_in(group, folder).empty() &&
         std::all_of(below.begin(), below.end(), [&](const fs::path& one) { return deserted(group, one); });
}

// A group can be removed once the kernel has ended its processes, after the lab's end. Processes of others
// may also have entered it.
void remove(const CpuGroup& group, const std::string& lab, bool take_back) {
  constexpr auto kNap = std::chrono::milliseconds(5);
  constexpr auto kOwnEnd = std::chrono::seconds(3);
  constexpr auto kGiveUp = std::chrono::seconds(10);
  const auto begin = Clock::now();
  while (!removed(lab) && Clock::now() - begin < kGiveUp) {
    if (Clock::now() - begin > kOwnEnd) move_out(group, lab);
    std::this_thread::sleep_for(kNap);
  }
  // Refused while folders of other labs are there.
  if (take_back) (void)put(group.folder + "/cgroup.subtree_control", "-cpu");
}

// The folder of a group in a mounted hierarchy, from the line "32 31 0:29 ROOT POINT OPTIONS - TYPE SOURCE
// OPTIONS".
std::string folder_of(const std::string& mounts, const std::string& type, const std::string& controller,
                      const std::string& path) {
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped;
    std::string root;
    std::string point;
    std::string kind;
    std::string options;
    words >> skipped >> skipped >> skipped >> root >> point;
    while (words >> skipped && skipped != "-") {
    }
    words >> kind >> skipped >> options;
    if (kind != type || (!controller.empty() && !has(options, controller))) continue;
    if (root == "/") return path == "/" ? point : point + path;
    if (path == root) return point;
    if (path.rfind(root + "/", 0) == 0) return point + path.substr(root.size());
  }
  return "";
}

std::string new_name() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return "";
  return fmt::format("{}{:016x}", kPrefix, number);
}

}  // namespace

Result<CpuGroup> cpu_group(const std::string& mounts, const std::string& groups) {
  std::string unified;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (line.substr(0, first) == "0") unified = path;
    if (!has(controllers, "cpu")) continue;
    // A controller is in only one hierarchy, so there is no other to look for.
    const std::string folder = folder_of(mounts, "cgroup", "cpu", path);
    if (!folder.empty()) return CpuGroup{1, folder};
    return failure("this process's control group for CPU time is not mounted here");
  }
  const std::string folder = unified.empty() ? "" : folder_of(mounts, "cgroup2", "", unified);
  if (!folder.empty()) return CpuGroup{2, folder};
  return failure("no control groups are mounted here");
}

std::vector<int> cores_of(const Cluster& cluster) {
  std::vector<int> cores;
  for (const Machine& machine : cluster.machines()) {
    cores.push_back(0);
    for (const Numa& numa : machine.numas) cores.back() += numa.cores;
  }
  const int largest = cores.empty() ? 1 : std::max(1, *std::max_element(cores.begin(), cores.end()));
  std::replace(cores.begin(), cores.end(), 0, largest);
  return cores;
}

CpuWeights cpu_weights(const std::vector<int>& cores, int version, int host_cpus) {
  const Scale& units = scale(version);
  std::int64_t largest = 1;
  std::int64_t all = 0;
  for (const int count : cores) {
    largest = std::max<std::int64_t>(largest, count);
    all += count;
  }
  CpuWeights weights;
  for (const int count : cores) {
    const std::int64_t weight =
        largest * units.core <= units.most ? count * units.core : count * units.most / largest;
    weights.machines.push_back(std::max(units.least, weight));
  }
  const std::int64_t most = std::int64_t{kThreadsPerCpu} * std::max(1, host_cpus);
  weights.lab = std::clamp(std::min(all, most) * units.core, units.least, units.most);
  return weights;
}

Result<CpuShares> share_cpus(const Cluster& cluster) {
  const auto group = cpu_group(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup"));
  if (!group) return tl::unexpected(group.error());
  if (access(group->folder.c_str(), W_OK) != 0)
    return failure(fmt::format("cannot write to {}: {}", group->folder, std::strerror(errno)));
  const bool take = group->version == 2 && !shares_cpu(group->folder);
  if (take && !names_cpu(group->folder + "/cgroup.controllers"))
    return failure(fmt::format("{}/cgroup.controllers does not list cpu", group->folder));
  sweep_cpu_groups();
  const std::string name = new_name();
  if (name.empty()) return failure("cannot get a random number from the kernel");
  CpuShares shares;
  shares.folder = group->folder + "/" + name;
  auto guard = stand_guard([&] { remove(*group, shares.folder, take); });
  if (!guard) return tl::unexpected(guard.error());
  shares.guard = std::move(*guard);
  const int cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  auto made = make(*group, shares.folder, cpu_weights(cores_of(cluster), group->version, cpus));
  shares.handle = handle_of(shares.guard.process);
  if (made && !shares.handle.valid())
    made = failure(fmt::format("cannot watch the guard of {}: {}", shares.folder, std::strerror(errno)));
  if (!made) {
    (void)relieve(shares.guard, kSharesPatience);
    return tl::unexpected(made.error());
  }
  shares.groups = std::move(*made);
  return shares;
}

void sweep_cpu_groups() {
  const auto group = cpu_group(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup"));
  if (!group) return;
  for (const fs::path& folder : folders_in(group->folder)) {
    struct stat owner = {};
    if (folder.filename().string().rfind(kPrefix, 0) != 0 || stat(folder.c_str(), &owner) != 0 ||
        owner.st_uid != geteuid())
      continue;
    const Descriptor dead = claimed(folder, LOCK_EX | LOCK_NB);
    if (dead.valid() && deserted(*group, folder)) (void)removed(folder);
  }
}

void join_cpu_group(const Descriptor& groups, MachineId machine) {
  if (!groups.valid()) return;
  const std::string file = fmt::format("{}/cgroup.procs", machine.index());
  const Descriptor members(openat(groups.number(), file.c_str(), O_WRONLY | O_CLOEXEC));
  if (members.valid()) (void)!write(members.number(), "0", 1);
}

}  // namespace weir::real
