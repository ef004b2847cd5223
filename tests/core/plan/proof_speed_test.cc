// The speed of the proof on large plans: it must be fast enough to run before every run.
#include <fmt/format.h>

#include <chrono>

#include "core/plan/proof.h"
#include "tests/catch.h"
#include "tests/core/plan/examples.h"
#include "tests/core/plan/large_examples.h"

namespace weir {
namespace {

using examples::large_ring;
using examples::large_server;
using examples::Size;

double prove_timed(const std::string& name, const Plan& plan) {
  const examples::Setting setting(plan);
  const auto start = std::chrono::steady_clock::now();
  const Result<Proof> proof = prove(plan, setting.cluster, setting.workload);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  INFO(name << ": " << (proof ? "proved" : proof.error().text));
  REQUIRE(proof);
  if (plan.ops().size() > 200'000) {
    WARN(fmt::format("{}: {} ops, {} pairs, {:.2f} s", name, proof->ops, proof->ordered, taken.count()));
  }
  return taken.count();
}

// Proves several plans and returns the longest time in seconds.
double prove_all(std::size_t machines, std::size_t layers, std::size_t server_parts, std::size_t ring_parts) {
  double longest = 0;
  const auto prove_one = [&](const std::string& name, const Plan& plan) {
    longest = std::max(longest, prove_timed(name, plan));
  };
  for (const bool implied : {false, true}) {
    const char* edges = implied ? "implied" : "explicit";
    for (const bool chained : {false, true}) {
      const Size size{machines, layers, server_parts, 2, chained, implied};
      prove_one(fmt::format("server, {}, {}", edges, chained ? "chained" : "unordered"),
                large_server(size).build());
    }
    const Size size{machines, layers, ring_parts, 2, true, implied};
    prove_one(fmt::format("ring, {}", edges), large_ring(size).build());
  }
  return longest;
}

}  // namespace

TEST_CASE("rings and servers of several sizes are proved", "[plan][proof]") {
  prove_all(2, 1, 1, 1);
  prove_all(2, 3, 2, 1);
  prove_all(3, 2, 3, 2);
  prove_all(5, 4, 3, 2);
}

// In each slot, thousands of accesses end at different bytes.
TEST_CASE("tensors of 20,000 sizes that share four slots are proved in seconds", "[plan][proof]") {
  constexpr double kSeconds = 8;  // measured: 0.2; with sanitizers ten times as much
  REQUIRE(prove_timed("mixed sizes", examples::mixed_sizes(20'000).build()) < kSeconds);
}

TEST_CASE("a plan of a quarter of a million ops is proved in about a second", "[.][benchmark]") {
  constexpr double kSeconds = 8;  // for each plan, on a busy machine
  CHECK(prove_all(16, 50, 63, 4) < kSeconds);
  CHECK(prove_all(64, 10, 80, 1) < kSeconds);
}

}  // namespace weir
