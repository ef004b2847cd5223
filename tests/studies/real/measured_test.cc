// The rates that a lab's plain connections should reach, and the topology that follows from what they did
// reach.
#include "studies/real/measured.h"

#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

using real::RawFlow;

constexpr std::int64_t kMega = 1'000'000;  // in bytes

// Machines whose NICs carry 50 MB/s in each direction, in racks of two.
Topology racked(const std::string& racks) {
  const auto document =
      parse_document(R"({"name":"racked","source":"a test","groups":[{"name":"gpu","count":4,
    "gpus":[{"at":"numa0"}],"nics":[{"at":"numa0","rate":"400Mbps"}]}],
    "network":{"latency":"1us","racks":{"size":2,)" +
                         racks + "}}}",
                     "");
  REQUIRE(document);
  const auto topology = read_topology(*document, "");
  REQUIRE(topology);
  return *topology;
}

// Each machine sends to the next.
std::vector<RawFlow> around() {
  std::vector<RawFlow> flows;
  for (std::size_t i = 0; i < 4; ++i) flows.push_back({MachineId(i), MachineId((i + 1) % 4)});
  return flows;
}

std::vector<double> rates(const Topology& topology) {
  std::vector<double> all = nominal_rates(Cluster(topology), around());
  for (double& rate : all) rate /= kMega;
  return all;
}

TEST_CASE("plain connections should reach what uplinks and other connections leave them") {
  using Rates = std::vector<double>;
  CHECK(rates(racked(R"("oversubscription":1)")) == Rates{50, 50, 50, 50});
  CHECK(rates(racked(R"("oversubscription":4)")) == Rates{50, 25, 50, 25});
  CHECK(rates(racked(R"("uplink":"80Mbps")")) == Rates{50, 10, 50, 10});
  // Both machines of a rack send to the other rack.
  CHECK(rates(racked(R"("oversubscription":4,"placement":"spread")")) == Rates{12.5, 12.5, 12.5, 12.5});
  CHECK(rates(racked(R"("uplink":{"in":"80Mbps","out":"400Mbps"},"placement":"spread")")) ==
        Rates{5, 5, 5, 5});
}

TEST_CASE("of two measurements, bounds take the faster rates") {
  Topology before = scaled(racked(R"("uplink":"200Mbps")"), 0.9);
  Topology after = scaled(racked(R"("uplink":"200Mbps")"), 0.8);
  before.groups[0].numa[0].sum_rate.by_dtype = {{Dtype::kF32, BytesPerSecond(3)},
                                                {Dtype::kF16, BytesPerSecond(5)}};
  after.groups[0].numa[0].sum_rate.by_dtype = {{Dtype::kF32, BytesPerSecond(4)},
                                               {Dtype::kF16, BytesPerSecond(2)}};
  after.groups[0].nics[0].rate.in = BytesPerSecond(48 * kMega);
  const Topology both = faster(before, after);
  CHECK(both.groups[0].nics[0].rate.in == BytesPerSecond(48 * kMega));
  CHECK(both.groups[0].nics[0].rate.out == BytesPerSecond(45 * kMega));
  CHECK(both.network.racks->uplink->in == before.network.racks->uplink->in);
  CHECK(both.groups[0].numa[0].sum_rate.by_dtype.at(Dtype::kF32) == BytesPerSecond(4));
  CHECK(both.groups[0].numa[0].sum_rate.by_dtype.at(Dtype::kF16) == BytesPerSecond(5));
  const Measured slow{BytesPerSecond(40 * kMega), after};
  const Measured fast{BytesPerSecond(45 * kMega), before};
  CHECK(difference(slow, fast) == Approx(0.125));
  CHECK(difference(fast, slow) == Approx(0.125));
}

TEST_CASE("if a lab reached less than its rates, its NICs and all uplinks are scaled alike") {
  for (const char* racks : {R"("oversubscription":4)", R"("uplink":"200Mbps")"}) {
    const Cluster slower(scaled(racked(racks), 0.9));
    std::size_t uplinks = 0;
    for (const Link& link : slower.links()) {
      if (link.kind == Link::Kind::kNic) CHECK(link.rate == BytesPerSecond(45 * kMega));
      if (link.kind != Link::Kind::kRack) continue;
      ++uplinks;
      CHECK(link.rate == BytesPerSecond(45 * kMega / 2));
    }
    CHECK(uplinks == 4);
  }
}

}  // namespace
}  // namespace weir
