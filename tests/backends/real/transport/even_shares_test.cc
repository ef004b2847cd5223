#include "backends/real/transport/even_shares.h"

#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

TEST_CASE("loads are shared out evenly, whatever their order") {
  const std::vector<Bytes> loads = {2_MB, 2_MB, 2_MB, 3_MB, 3_MB, 0_B, 0_B};
  const auto places = even_shares(loads, 4);
  std::vector<Bytes> sums(4);
  for (std::size_t i = 0; i < loads.size(); ++i) sums[places[i]] += loads[i];
  CHECK(sums == std::vector<Bytes>{3_MB, 3_MB, 4_MB, 2_MB});
}

TEST_CASE(
    "of places with as much the one with fewest loads has the next, so that empty ones are spread too") {
  CHECK(even_shares({0_B, 0_B, 0_B, 0_B, 0_B}, 2) == std::vector<std::size_t>{0, 1, 0, 1, 0});
  CHECK(even_shares({}, 3).empty());
}

}  // namespace
}  // namespace weir::real
