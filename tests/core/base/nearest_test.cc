#include "core/base/nearest.h"

#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("count", "cuont") == 1);
  CHECK(edit_distance("rate", "rates") == 1);
  CHECK(edit_distance("latency", "lateness") == 3);
  CHECK(edit_distance("ca", "abc") == 3);
}

TEST_CASE("the nearest known word is found unless all are far away") {
  CHECK(nearest("cuont", {"name", "count", "counts"}) == "count");
  CHECK(nearest("nic", {"nics", "numa"}) == "nics");
  CHECK(nearest("colour", {"name", "count"}) == std::nullopt);
  CHECK(nearest("a", {}) == std::nullopt);
}

TEST_CASE("the first of equally near words is taken") { CHECK(nearest("p3", {"p1", "p2"}) == "p1"); }

}  // namespace
}  // namespace weir
