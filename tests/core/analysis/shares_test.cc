#include "core/analysis/shares.h"

#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/property/random_case.h"
#include "tests/property/scaled.h"

namespace weir {
namespace {

constexpr double kRate = 10e9;  // bytes per second of every NIC unless a test sets another rate

// n machines with one GPU and k CPU machines, at 10 GB/s. Only NICs take time.
Cluster uniform(int n, int k) {
  return cluster_of(fmt::format(R"({{"name": "uniform", "groups": [
    {{"name": "gpu", "count": {}, "gpus": [{{"at": "numa0"}}], "nics": [{{"at": "numa0", "rate": "10GB/s"}}]}},
    {{"name": "cpu", "count": {}, "nics": [{{"at": "numa0", "rate": "10GB/s"}}]}}]}})",
                                n, k));
}

Result<Shares> split(const Cluster& cluster, Summing summing) {
  return shares_of(cluster, Dtype::kF32, Options(), no_local_stages(cluster), summing);
}

Shares optimal(const Cluster& cluster) {
  const Result<Shares> shares = split(cluster, Summing::kOptimal);
  REQUIRE(shares);
  double sum = 0.0;
  for (const double share : shares->of_machine) sum += share;
  CHECK(sum == Approx(1.0).epsilon(1e-6));  // shares below 1e-9 are left out
  return *shares;
}

TEST_CASE("uniform clusters are split as BytePS's Theorem 1 says") {
  for (int n = 2; n <= 32; n = n < 8 ? n + 1 : 2 * n) {
    for (int k = 0; k <= n; ++k) {
      CAPTURE(n, k);
      const Shares shares = optimal(uniform(n, k));
      const double d = n * n + k * n - 2 * k;
      CHECK(shares.seconds_per_byte == Approx(2.0 * n * (n - 1) / (d * kRate)).epsilon(1e-6));
      if (n == 2) continue;  // any split is equally good
      CHECK(shares.of_machine.front() == Approx((n - k) / d).epsilon(1e-6).margin(1e-9));
      if (k > 0) CHECK(shares.of_machine.back() == Approx(2.0 * (n - 1) / d).epsilon(1e-6));
    }
  }
}

TEST_CASE("with 32 GPU machines and 16 CPU machines the gains are those of the paper") {
  const Shares shares = optimal(uniform(32, 16));
  CHECK(shares.of_machine.front() == Approx(16.0 / 1504).epsilon(1e-6));
  CHECK(shares.of_machine.back() == Approx(62.0 / 1504).epsilon(1e-6));
  CHECK(optimal(uniform(32, 0)).seconds_per_byte / shares.seconds_per_byte == Approx(1.4688).epsilon(1e-4));
  const auto ps = split(uniform(32, 16), Summing::kCpuMachines);
  REQUIRE(ps);
  CHECK(ps->seconds_per_byte / shares.seconds_per_byte == Approx(1.5161).epsilon(1e-4));
}

TEST_CASE("more CPU machines than GPU machines do not help") {
  for (const int n : {2, 4, 8}) {
    for (const int extra : {1, 3, 9}) {
      CHECK(optimal(uniform(n, n + extra)).seconds_per_byte == Approx(1.0 / kRate).epsilon(1e-6));
    }
  }
}

TEST_CASE("two workers gain nothing from CPU machines") {
  for (int k = 0; k <= 6; ++k)
    CHECK(optimal(uniform(2, k)).seconds_per_byte == Approx(1.0 / kRate).epsilon(1e-6));
}

TEST_CASE("any other split of a uniform cluster takes longer") {
  // How the time of the busiest NIC changes if a tenth of the CPU machines' share moves to the GPU machines,
  // or back.
  for (const int n : {4, 8, 16}) {
    for (const int k : {1, n / 2, n - 1}) {
      const Shares shares = optimal(uniform(n, k));
      for (const double factor : {0.9, 0.99, 1.01, 1.1}) {
        const double cpu = shares.of_machine.back() * factor;
        const double gpu = (1.0 - k * cpu) / n;
        const double time = std::max(1.0 + (n - 2) * gpu, n * cpu) / kRate;
        CHECK(time > shares.seconds_per_byte * (1 + 1e-6));
      }
    }
  }
}

TEST_CASE("CPU machines of another rate count in proportion to the workers' rate") {
  // Four workers at 10 GB/s. CPU machines at 5 GB/s take half of the share of equal ones: 4 slow ones are as
  // good as 2.
  const Shares slow = optimal(cluster_of(R"({"name": "mixed", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "cpu", "count": 4, "nics": [{"at": "numa0", "rate": "5GB/s"}]}]})"));
  const Shares equal = optimal(uniform(4, 2));
  CHECK(slow.seconds_per_byte == Approx(equal.seconds_per_byte).epsilon(1e-6));
  CHECK(slow.of_machine.back() == Approx(equal.of_machine.back() / 2).epsilon(1e-6));
}

TEST_CASE("the slower of a NIC's directions counts") {
  const Shares shares = optimal(cluster_of(R"({"name": "lopsided", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "cpu", "count": 2, "nics": [{"at": "numa0", "rate": {"in": "10GB/s", "out": "5GB/s"}}]}]})"));
  CHECK(shares.seconds_per_byte == Approx(optimal(uniform(4, 1)).seconds_per_byte).epsilon(1e-6));
}

TEST_CASE("workers of different rates share the rest by water filling") {
  // Rates 20, 10, 10 GB/s, n = 3: (1 + w_i) / B_i <= T. The slow machines sum nothing, because the fast one
  // can sum everything: 2 / 20 = 0.1 = 1 / 10.
  const Shares shares = optimal(cluster_of(R"({"name": "three", "groups": [
    {"name": "fast", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "20GB/s"}]},
    {"name": "slow", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})"));
  CHECK(shares.seconds_per_byte == Approx(0.1e-9).epsilon(1e-6));
  CHECK(shares.of_machine[0] == Approx(1.0).epsilon(1e-6));
  CHECK(shares.of_machine[1] == Approx(0.0).margin(1e-9));
}

TEST_CASE("a single worker keeps its gradient to itself") {
  for (int k = 0; k <= 3; ++k) {
    const Shares shares = optimal(uniform(1, k));
    CHECK(shares.of_machine.front() == Approx(1.0));
    CHECK(shares.seconds_per_byte == 0.0);
  }
}

TEST_CASE("machines that do not bind carry no needless load") {
  // The slow worker's NIC takes 1 / 2.5 for any split. The fast workers have enough time to sum everything,
  // and that moves the fewest bytes: any share elsewhere would travel further.
  const Shares shares = optimal(cluster_of(R"({"name": "idle", "groups": [
    {"name": "slow", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "2.5GB/s"}]},
    {"name": "fast", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})"));
  CHECK(shares.seconds_per_byte == Approx(1 / 2.5e9).epsilon(1e-6));
  CHECK(shares.of_machine[0] == Approx(0.0).margin(1e-6));
  CHECK(shares.of_machine[1] == Approx(0.5).epsilon(1e-6));
  CHECK(shares.of_machine[3] == Approx(0.0).margin(1e-6));
}

TEST_CASE("all machines that cross a rack's uplink share it") {
  // Two racks of two workers. With w = 1/4 each, a rack sends the halves of its two workers that are summed
  // elsewhere, and the sums that it makes for the two others. Per byte of the model, 2 x 1/2 + 2 x 1/2 = 2
  // bytes cross the uplink of 5 GB/s; NICs need 1.5 / 10.
  const Shares shares = optimal(cluster_of(R"({"name": "racks", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]}],
    "network": {"racks": {"size": 2, "uplink": "5GB/s"}}})"));
  CHECK(shares.seconds_per_byte == Approx(2.0 / 5e9).epsilon(1e-6));
  CHECK(shares.binding.find("rack") != std::string::npos);
}

TEST_CASE("summation binds where it is slow") {
  // Four workers that sum at 2 GB/s, and one CPU machine that sums 3 w at 1 GB/s: 3 w_c / 1 = 3 w_g / 2 and
  // w_c + 4 w_g = 1 give w_c = 1/9, w_g = 2/9, T = 1/3 ns.
  const Shares shares = optimal(cluster_of(R"({"name": "sums", "groups": [
    {"name": "gpu", "count": 4, "numa": [{"sum_rate": "2GB/s"}], "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": "100GB/s"}]},
    {"name": "cpu", "count": 1, "numa": [{"sum_rate": "1GB/s"}], "nics": [{"at": "numa0", "rate": "100GB/s"}]}]})"));
  CHECK(shares.seconds_per_byte == Approx(1.0 / 3e9).epsilon(1e-6));
  CHECK(shares.of_machine.front() == Approx(2.0 / 9).epsilon(1e-6));
  CHECK(shares.of_machine.back() == Approx(1.0 / 9).epsilon(1e-6));
  CHECK(shares.binding.find("sum") != std::string::npos);
}

TEST_CASE("memory binds where it is slow") {
  // Four workers and one CPU machine. Per byte of the model, a worker's memory passes 2 bytes between GPU and
  // host and 2 (1 - w) of pushes and pulls. For the other workers it passes 2 x 3 w, and for sums 3 x 3 w.
  // That is 4 + 13 w; a CPU machine passes 8 w + 9 w. At 53 and 102 GB/s, w is 0.1 and 0.6, and the time is
  // 0.1 ns. Cores at 20 GB/s are no bottleneck.
  const Shares shares = optimal(cluster_of(R"({"name": "memory", "groups": [
    {"name": "gpu", "count": 4, "numa": [{"memory_rate": "53GB/s", "sum_rate": "20GB/s"}],
     "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "100GB/s"}]},
    {"name": "cpu", "count": 1, "numa": [{"memory_rate": "102GB/s", "sum_rate": "20GB/s"}],
     "nics": [{"at": "numa0", "rate": "100GB/s"}]}]})"));
  CHECK(shares.seconds_per_byte == Approx(0.1e-9).epsilon(1e-6));
  CHECK(shares.of_machine.front() == Approx(0.1).epsilon(1e-6));
  CHECK(shares.of_machine.back() == Approx(0.6).epsilon(1e-6));
  CHECK(shares.binding.find(".numa0.bus") != std::string::npos);
}

TEST_CASE("servers' updates bind where cores are slow, and do not change the optimal split") {
  // Adam passes seven times over the four bytes of each element. An f32 sum passes three times over each
  // byte, at 1 GB/s.
  const Cluster cluster = cluster_of(R"({"name": "update", "groups": [
    {"name": "gpu", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "cpu", "count": 1, "numa": [{"sum_rate": {"f32": "1GB/s", "f16": "5GB/s"}}],
     "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})");
  Options options;
  options.optimizer = Optimizer::kAdam;
  const auto shares = [&](Dtype dtype, Summing summing) {
    return *shares_of(cluster, dtype, options, no_local_stages(cluster), summing);
  };
  CHECK(shares(Dtype::kF32, Summing::kCpuMachines).seconds_per_byte == Approx(7 / 3e9));
  CHECK(shares(Dtype::kF16, Summing::kCpuMachines).seconds_per_byte == Approx(14 / 3e9));
  CHECK(shares(Dtype::kF16, Summing::kCpuMachines).binding == "cpu[0].numa0 sum");
  CHECK(shares(Dtype::kF32, Summing::kOptimal).seconds_per_byte == 0.0);
}

TEST_CASE("placement on another NUMA node loads the link between sockets") {
  // One worker's bytes cross the socket link in both directions, all of them or half.
  const Cluster cluster = cluster_of(R"({"name": "sockets", "groups": [
    {"name": "gpu", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "cpu", "count": 1, "numa": [{}, {}], "sockets": [{"between": [0, 1], "rate": "4GB/s"}],
     "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})");
  Options options;
  const auto seconds = [&](NumaPlacement numa) {
    options.numa = numa;
    return shares_of(cluster, Dtype::kF32, options, no_local_stages(cluster), Summing::kCpuMachines)
        ->seconds_per_byte;
  };
  CHECK(seconds(NumaPlacement::kNic) == Approx(1 / 10e9));
  CHECK(seconds(NumaPlacement::kFar) == Approx(1 / 4e9));
  CHECK(seconds(NumaPlacement::kSpread) == Approx(1 / 8e9));
}

TEST_CASE("parameter servers take equal shares") {
  const Cluster cluster = uniform(3, 2);
  const auto ps = split(cluster, Summing::kCpuMachines);
  REQUIRE(ps);
  CHECK(ps->of_machine == std::vector<double>{0, 0, 0, 0.5, 0.5});
  const auto colocated = split(cluster, Summing::kGpuMachines);
  REQUIRE(colocated);
  CHECK(colocated->of_machine[2] == Approx(1.0 / 3));
  CHECK_FALSE(split(uniform(3, 0), Summing::kCpuMachines));
}

TEST_CASE("every random cluster has an optimal split, the same at all scales") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Topology topology = property::without_latencies(property::random_case(seed).topology);
    const Shares one = optimal(Cluster(topology));
    const Topology faster = property::with_faster_sums(property::with_faster_links(topology, 2), 2);
    CHECK(optimal(Cluster(faster)).seconds_per_byte ==
          Approx(one.seconds_per_byte / 2).epsilon(1e-6).margin(1e-16));
  }
}

}  // namespace
}  // namespace weir
