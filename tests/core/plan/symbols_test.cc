// Sets of contributors, and the map from bytes to the contributions that they hold.
#include "core/plan/symbols.h"

#include <algorithm>

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

using namespace literals;

Symbol symbol(Bytes offset, Bytes size, Bytes gradient, SetId set) {
  return {{offset, size}, gradient, set, OpId(0)};
}

void write(Symbols& symbols, const Symbol& symbol) { symbols.write(std::span(&symbol, 1)); }

std::vector<Symbol> read(const Symbols& symbols, const Range& range) {
  std::vector<Symbol> found;
  symbols.read(range, found);
  return found;
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

TEST_CASE("a write hides the earlier contents of its bytes, and of no others", "[plan][sums]") {
  Contributors contributors(2);
  const SetId a = contributors.only(0);
  const SetId b = contributors.only(1);
  Symbols symbols;
  write(symbols, symbol(0_B, 100_B, 1000_B, a));
  write(symbols, symbol(40_B, 20_B, 40_B, b));
  const std::vector<Symbol> found = read(symbols, {20_B, 60_B});
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
  write(symbols, symbol(0_B, 10_B, 0_B, contributors.all()));
  write(symbols, symbol(20_B, 10_B, 20_B, contributors.all()));
  REQUIRE(gap(read(symbols, {0_B, 10_B}), {0_B, 10_B}) == std::nullopt);
  REQUIRE(gap(read(symbols, {5_B, 25_B}), {5_B, 25_B}) == 10_B);
  REQUIRE(gap(read(symbols, {25_B, 10_B}), {25_B, 10_B}) == 30_B);
  REQUIRE(gap(read(symbols, {12_B, 4_B}), {12_B, 4_B}) == 12_B);
}

TEST_CASE("after thousands of writes of any size every byte has its last value", "[plan][sums]") {
  constexpr std::int64_t kBytes = 5000;
  Random random(1);
  Symbols symbols;
  std::vector<std::uint32_t> last(kBytes, 0);  // for each byte its writer, or 0 for none
  for (std::uint32_t writer = 1; writer < 6000; ++writer) {
    const std::int64_t longest = writer % 500 == 0 ? kBytes : 4;
    const Bytes offset(random.between(0, kBytes - 1));
    const Bytes size(random.between(1, std::min(longest, kBytes - offset.count())));
    const Symbol whole{{offset, size}, offset, SetId(0), OpId(writer)};
    std::vector<Symbol> parts = {whole};
    if (size > 1_B) parts = {clipped(whole, {offset, 1_B}), clipped(whole, {offset + 1_B, size - 1_B})};
    symbols.write(parts);
    std::fill_n(last.begin() + offset.count(), size.count(), writer);
    if (writer % 50 != 0) continue;
    const Range range{Bytes(random.between(0, kBytes / 2)), Bytes(random.between(1, kBytes / 2))};
    std::vector<std::uint32_t> found(kBytes, 0);
    for (const Symbol& part : read(symbols, range)) {
      REQUIRE(part.gradient == part.range.offset);
      std::fill_n(found.begin() + part.range.offset.count(), part.range.size.count(), part.writer.value());
    }
    const auto begin = static_cast<std::ptrdiff_t>(range.offset.count());
    const auto end = static_cast<std::ptrdiff_t>(range.end().count());
    REQUIRE(std::equal(found.begin() + begin, found.begin() + end, last.begin() + begin));
    REQUIRE(std::all_of(found.begin() + end, found.end(), [](std::uint32_t at) { return at == 0; }));
  }
}

}  // namespace weir
