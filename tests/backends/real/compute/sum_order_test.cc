#include "tests/backends/real/compute/ordered_sums.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("sums in the plan's order have the same bits in every run") {
  ThreadWorld::Settings settings;
  settings.channels = settings.threads = 2;
  for (const char* strategy : {"unified", "ps", "double-tree"}) {
    const auto first = ordered_sums(strategy, 0, settings).front();
    for (std::uint64_t run = 0; run < 8; ++run) {
      INFO(strategy << ", run " << run);
      for (const auto& sums : ordered_sums(strategy, run, settings)) CHECK(sums == first);
    }
  }
}

TEST_CASE("sums over any wire are the same as over TCP, bit by bit") {
  for (const char* strategy : {"unified", "ps", "ring"}) {
    const auto over_tcp = ordered_sums(strategy, 2, {});
    for (const Wire* wire : wires_of_any_host()) {
      INFO(strategy << " over " << wire->name);
      ThreadWorld::Settings settings;
      settings.choice = choice_of(wire->name);
      CHECK(ordered_sums(strategy, 1, settings) == over_tcp);
    }
  }
}

}  // namespace
}  // namespace weir::real
