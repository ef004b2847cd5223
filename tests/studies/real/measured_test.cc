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
