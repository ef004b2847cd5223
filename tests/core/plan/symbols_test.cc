// Sets of contributors, and the map from bytes to what they hold.
#include "core/plan/symbols.h"

#include "tests/catch.h"

namespace weir {
namespace {

using namespace literals;

Symbol symbol(Bytes offset, Bytes size, Bytes gradient, SetId set) {
  return {{offset, size}, gradient, set, OpId(0)};
}

}  // namespace

TEST_CASE("equal sets of contributors are one set, and sets with a common member do not unite",
          "[plan][sums]") {
  Contributors contributors(130);
  const SetId first = contributors.only(0);
  const SetId last = contributors.only(129);
  REQUIRE(contributors.united(first, last) == contributors.united(last, first));
  REQUIRE(contributors.members(*contributors.united(first, last)) == std::vector<std::size_t>{0, 129});
  REQUIRE_FALSE(contributors.united(first, first));
  REQUIRE_FALSE(contributors.united(first, contributors.all()));
  SetId sum = first;
  for (std::size_t i = 1; i < contributors.count(); ++i)
    sum = *contributors.united(sum, contributors.only(i));
  REQUIRE(sum == contributors.all());
}

TEST_CASE("what is written hides what was there, and nothing beside it", "[plan][sums]") {
  Contributors contributors(2);
  const SetId a = contributors.only(0);
  const SetId b = contributors.only(1);
  Symbols symbols;
  symbols.write(symbol(0_B, 100_B, 1000_B, a));
  symbols.write(symbol(40_B, 20_B, 40_B, b));
  const std::vector<Symbol> found = symbols.read({20_B, 60_B});
  REQUIRE(found.size() == 3);
  REQUIRE(found[0].range == Range{20_B, 20_B});
  REQUIRE(found[0].gradient == 1020_B);
  REQUIRE(found[1].range == Range{40_B, 20_B});
  REQUIRE(found[1].set == b);
  REQUIRE(found[2].range == Range{60_B, 20_B});
  REQUIRE(found[2].gradient == 1060_B);
}

TEST_CASE("bytes that were never written leave a gap", "[plan][sums]") {
  Contributors contributors(1);
  Symbols symbols;
  symbols.write(symbol(0_B, 10_B, 0_B, contributors.all()));
  symbols.write(symbol(20_B, 10_B, 20_B, contributors.all()));
  REQUIRE(gap(symbols.read({0_B, 10_B}), {0_B, 10_B}) == std::nullopt);
  REQUIRE(gap(symbols.read({5_B, 25_B}), {5_B, 25_B}) == 10_B);
  REQUIRE(gap(symbols.read({25_B, 10_B}), {25_B, 10_B}) == 30_B);
  REQUIRE(gap(symbols.read({12_B, 4_B}), {12_B, 4_B}) == 12_B);
}

}  // namespace weir
