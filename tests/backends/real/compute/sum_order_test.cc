#include "tests/backends/real/compute/ordered_sums.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("sums in the plan's order come to the same bits in every run") {
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

}  // namespace
}  // namespace weir::real
