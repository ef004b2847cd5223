#include "core/strategies/blocks/placement.h"

#include <map>

#include "core/base/random.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

std::vector<Part> equal_parts(int count, Bytes size) {
  std::vector<Part> parts;
  for (int i = 0; i < count; ++i) parts.push_back({{size * i, size}, Dtype::kF32, 0, 0});
  return parts;
}

// Machines with one NIC and these shares.
std::vector<Summer> one_nic(const std::vector<double>& shares) {
  std::vector<Summer> result;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0.0) result.push_back({MachineId(i), 0, shares[i]});
  }
  return result;
}

std::map<MachineId, Bytes> loads(const std::vector<PlacedPart>& placed) {
  std::map<MachineId, Bytes> loads;
  for (const PlacedPart& part : placed) loads[part.owner] += part.part.range.size;
  return loads;
}

TEST_CASE("every byte is placed once, in the order given, and parts of one owner are counted") {
  const std::vector<Part> parts = equal_parts(10, 1_MB);
  const std::vector<PlacedPart> placed = place(parts, one_nic({0.3, 0.7}));
  Bytes end;
  std::map<MachineId, std::size_t> counted;
  for (const PlacedPart& part : placed) {
    CHECK(part.part.range.offset == end);
    CHECK(part.index == counted[part.owner]++);
    end = part.part.range.end();
  }
  CHECK(end == 10_MB);
}

TEST_CASE("a machine without a share gets nothing") {
  for (const PlacedPart& part : place(equal_parts(50, 10_KB), one_nic({0.5, 0.0, 0.5})))
    CHECK(part.owner != MachineId(1));
}

TEST_CASE("equal shares take turns") {
  const std::vector<PlacedPart> placed = place(equal_parts(40, 1_MB), one_nic({0.25, 0.25, 0.25, 0.25}));
  for (std::size_t i = 0; i + 4 <= placed.size(); i += 4) {
    std::map<MachineId, int> seen;
    for (std::size_t j = i; j < i + 4; ++j) ++seen[placed[j].owner];
    CHECK(seen.size() == 4);
  }
}

TEST_CASE("a load exceeds its share by at most 0.05 percent or some 32 KiB") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    CAPTURE(trial);
    std::vector<double> shares;
    double sum = 0.0;
    for (std::int64_t i = random.between(1, 20); i > 0; --i) sum += shares.emplace_back(random.uniform());
    for (double& share : shares) share /= sum;
    std::vector<Part> parts;
    Bytes total;
    for (std::int64_t i = random.between(1, 400); i > 0; --i) {
      const Bytes size(4 * random.between(1, 1'000'000));
      parts.push_back({{total, size}, Dtype::kF32, 0, 0});
      total += size;
    }
    const std::map<MachineId, Bytes> placed = loads(place(parts, one_nic(shares)));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const auto found = placed.find(MachineId(i));
      const double load = found == placed.end() ? 0.0 : static_cast<double>(found->second.count());
      const double ideal = shares[i] * static_cast<double>(total.count());
      CHECK(load - ideal <= 0.0005 * ideal + 40'000.0);
      CHECK(load - ideal <= 0.01 * ideal + 1000.0);
    }
  }
}

// BytePS places by a hash of names. Its largest servers carry 1.54 and 1.17 times the mean load of these
// models.
TEST_CASE("eight servers of a shipped model are loaded alike") {
  for (const char* model : {"resnet-50", "bert-large"}) {
    const auto trace = read_trace(fmt::format(WEIR_SOURCE_DIR "/traces/{}.json", model));
    REQUIRE(trace);
    const Workload workload(*trace);
    for (const Bytes largest : {512_KiB, 4_MB, 1_GB}) {
      Bytes busiest;
      for (const auto& [machine, load] :
           loads(place(workload.partition(largest), one_nic(std::vector(8, 0.125)))))
        busiest = std::max(busiest, load);
      CAPTURE(model, largest.count());
      CHECK(static_cast<double>(busiest.count()) * 8 / static_cast<double>(workload.size().count()) <= 1.01);
    }
  }
}

TEST_CASE("a machine's share is split among its NICs by their rates, and machines take turns") {
  const Cluster cluster = cluster_of(R"({"name": "several", "groups": [
      {"name": "gpu", "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10Gbps"}]},
      {"name": "cpu", "count": 2,
       "nics": [{"at": "numa0", "rate": "10Gbps"}, {"at": "numa0", "rate": "30Gbps"}]}]})");
  const std::vector<Summer> found = summers(cluster, {0.0, 0.4, 0.6});
  REQUIRE(found.size() == 4);
  const double shares[] = {0.1, 0.15, 0.3, 0.45};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(found[i].machine == MachineId(1 + i % 2));
    CHECK(found[i].nic == static_cast<int>(i / 2));
    CHECK(found[i].share == Approx(shares[i]));
  }
  std::map<std::pair<MachineId, int>, Bytes> bytes;
  for (const PlacedPart& part : place(equal_parts(100, 1_MB), found)) {
    bytes[{part.owner, part.nic}] += part.part.range.size;
  }
  CHECK(std::abs((bytes[{MachineId(2), 1}] - 45_MB).count()) < 50'000);
}

TEST_CASE("urgent parts overtake those that wait, but not those that are sent before they are ready") {
  Trace trace;
  trace.name = "two";
  trace.layers = {{"0", 1_ms, 1_ms, {{"a", 1000, Dtype::kF32}}},
                  {"1", 1_ms, 1_ms, {{"b", 3000, Dtype::kF32}}}};
  const Workload workload(trace);
  const std::vector<Part> parts = workload.partition(4000_B);  // three of layer 1, then one of layer 0
  REQUIRE(parts.size() == 4);
  // The whole model takes 4 ms and each part 1 ms. Layer 1 is ready at 1 ms, layer 0 at 2 ms.
  Options options;
  CHECK(service_order(workload, parts, options, 4_ms) == std::vector<std::size_t>{0, 3, 1, 2});
  options.overlap = false;
  CHECK(service_order(workload, parts, options, 4_ms) == std::vector<std::size_t>{3, 0, 1, 2});
  options.policy = Policy::kFifo;
  CHECK(service_order(workload, parts, options, 4_ms) == std::vector<std::size_t>{0, 1, 2, 3});
}

}  // namespace
}  // namespace weir
