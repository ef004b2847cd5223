#include "backends/real/lab/cpu_shares.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using Weights = std::vector<std::int64_t>;

// Machines with this number of cores on each of their NUMA nodes; 0 means that it is not stated.
Cluster cluster(const std::vector<std::vector<int>>& machines) {
  std::string groups;
  for (const std::vector<int>& numas : machines) {
    std::string text;
    for (const int cores : numas)
      text += (text.empty() ? "" : ", ") + std::string(R"({"cores": )") + std::to_string(cores) + "}";
    groups += (groups.empty() ? "" : ", ") + std::string(R"({"name": "m)") + std::to_string(groups.size()) +
              R"(", "count": 1, "numa": [)" + text + "], " +
              (numas.size() > 1 ? R"("sockets": [{"between": [0, 1], "rate": "10GB/s"}], )" : "") +
              R"("nics": [{"at": "numa0", "rate": "1Gbps"}]})";
  }
  const auto document = parse_document(R"({"name": "test", "groups": [)" + groups + "]}", "test");
  return Cluster(read_topology(document.value(), "").value());
}

TEST_CASE("the control group for CPU time is found in the hierarchy that has the controller") {
  const std::string mounts =
      "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
      "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
  CHECK(cpu_group(mounts, "9:cpuset:/\n1:cpu,cpuacct:/\n0::/\n") ==
        CpuGroup{1, "/sys/fs/cgroup/cpu,cpuacct"});
  CHECK(cpu_group(mounts, "9:cpuset:/x\n1:cpuacct,cpu:/a:b/c\n0::/\n") ==
        CpuGroup{1, "/sys/fs/cgroup/cpu,cpuacct/a:b/c"});
  CHECK(cpu_group(mounts, "9:cpuset:/\n0::/user.slice\n") ==
        CpuGroup{2, "/sys/fs/cgroup/unified/user.slice"});
}

TEST_CASE("a mount may begin below the root of a hierarchy") {
  const std::string mounts = "32 31 0:29 /docker/a /sys/fs/cgroup rw - cgroup2 cgroup rw,nsdelegate\n";
  CHECK(cpu_group(mounts, "0::/docker/a\n") == CpuGroup{2, "/sys/fs/cgroup"});
  CHECK(cpu_group(mounts, "0::/docker/a/b\n") == CpuGroup{2, "/sys/fs/cgroup/b"});
  CHECK_FALSE(cpu_group(mounts, "0::/docker/ab\n"));
  CHECK_FALSE(cpu_group(mounts, "1:cpu:/docker/a\n0::/docker/a\n"));
  CHECK_FALSE(cpu_group("", "0::/\n"));
  CHECK_FALSE(cpu_group(mounts, ""));
}

TEST_CASE("machines weigh as their cores, and as the largest machine if cores are not stated") {
  CHECK(cores_of(cluster({{1}, {2, 3}, {0}})) == std::vector<int>{1, 5, 5});
  CHECK(cores_of(cluster({{0}, {0, 0}})) == std::vector<int>{1, 1});
  CHECK(cpu_weights({1, 3}, 1, 8).machines == Weights{1024, 3072});
  CHECK(cpu_weights({1, 3}, 2, 8).machines == Weights{100, 300});
}

TEST_CASE("weights stay in proportion within the kernel's range") {
  CHECK(cpu_weights({128, 512}, 1, 8).machines == Weights{65536, 262144});
  CHECK(cpu_weights({50, 200}, 2, 8).machines == Weights{2500, 10000});
  CHECK(cpu_weights({1, 1'000'000}, 1, 8).machines == Weights{2, 262144});
  CHECK(cpu_weights({1, 1'000'000}, 2, 8).machines == Weights{1, 10000});
}

TEST_CASE("a lab weighs as a thread for each core, limited by the host's CPUs") {
  CHECK(cpu_weights({1, 3}, 1, 1).lab == 4096);
  CHECK(cpu_weights({1, 3}, 2, 1).lab == 400);
  CHECK(cpu_weights({64, 64}, 1, 2).lab == 32768);
  CHECK(cpu_weights({64, 64}, 2, 64).lab == 10000);
}

// Kills the guard and then closes the folder, as if all processes of the lab were killed at once.
void abandon(CpuShares shares) {
  kill(shares.guard.process, SIGKILL);
  waitpid(shares.guard.process, nullptr, 0);
}

// The guard of a later lab starts with copies of open files and closes them soon, so this tries for a while.
bool is_swept(const std::string& folder) {
  for (int i = 0; i < 1000 && std::filesystem::exists(folder); ++i) {
    sweep_cpu_groups();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return !std::filesystem::exists(folder);
}

TEST_CASE("folders of labs that were killed with their guards are swept, those of live labs are not") {
  const Cluster two = cluster({{1}, {3}});
  auto dead = share_cpus(two);
  if (!dead) {
    WARN("no control groups here: " + dead.error().text);
    return;
  }
  auto alive = share_cpus(two);
  REQUIRE(alive);
  const std::string left = dead->folder;
  abandon(std::move(*dead));
  CHECK(std::filesystem::exists(left + "/1"));
  CHECK(is_swept(left));
  CHECK(std::filesystem::exists(alive->folder + "/1"));

  // The next lab sweeps too, but keeps folders that a process has open.
  const std::string used = alive->folder;
  Descriptor copy(fcntl(alive->groups.number(), F_DUPFD_CLOEXEC, 0));
  abandon(std::move(*alive));
  auto next = share_cpus(two);
  REQUIRE(next);
  CHECK(std::filesystem::exists(used + "/1"));
  copy = Descriptor();
  CHECK(is_swept(used));
  CHECK(relieve(next->guard, kSharesPatience));
  CHECK_FALSE(std::filesystem::exists(next->folder));
}

}  // namespace
}  // namespace weir::real
