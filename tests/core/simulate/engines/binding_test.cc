#include "core/simulate/engines/binding.h"

#include "tests/catch.h"

namespace weir {
namespace {

std::vector<LinkId> by(const std::vector<Cover>& covers) {
  std::vector<LinkId> ids;
  for (const Cover& cover : covers) ids.push_back(cover.by);
  return ids;
}

// Two NICs with separate flows write to one memory, which is the last link.
Binding memory_of(double rate, const std::vector<bool>& varies = {false, false, false}) {
  const Paths paths = {{{LinkId(0), 1}, {LinkId(2), 1}}, {{LinkId(1), 1}, {LinkId(2), 1}}};
  return Binding({6.0, 5.0, rate}, paths, varies);
}

TEST_CASE("a link that can carry all that other links let through never binds") {
  CHECK(memory_of(11.0).never == std::vector<bool>{false, false, true});
  CHECK(memory_of(10.9).never == std::vector<bool>{false, false, false});
  CHECK(memory_of(11.0, {false, false, true}).never == std::vector<bool>{false, false, false});
}

TEST_CASE("a link that can carry nearly all of it has covers") {
  const Binding binding = memory_of(10.0);
  CHECK(by(binding.covers[2]) == std::vector<LinkId>{LinkId(1), LinkId(0)});
  CHECK(binding.covers[2][0].rate == 5.0);
  CHECK(binding.covers[2][1].rate == 6.0);
  CHECK(binding.covers[0].empty());
  CHECK(binding.covers[1].empty());
  CHECK(memory_of(11.0).covers[2].empty());
  CHECK(memory_of(5.4).covers[2].empty());  // memory has less than half of the NICs' rate
  CHECK(memory_of(10.0, {false, false, true}).covers[2].empty());
}

TEST_CASE("a flow that loads a link several times counts as often") {
  const Paths paths = {{{LinkId(0), 1}, {LinkId(1), 3}}, {{LinkId(0), 1}}};
  CHECK(Binding({2.0, 6.0}, paths, {false, false}).never == std::vector<bool>{false, true});
  const Binding binding({2.0, 5.0}, paths, {false, false});
  REQUIRE(binding.covers[1].size() == 1);
  CHECK(binding.covers[1][0].rate == 6.0);
}

TEST_CASE("a link that covers another has no covers itself") {
  const Paths paths = {{{LinkId(0), 1}, {LinkId(1), 1}}, {{LinkId(1), 1}, {LinkId(2), 1}}, {{LinkId(0), 1}}};
  const Binding binding({5.0, 6.0, 4.0}, paths, {false, false, false});
  for (std::size_t i = 0; i < 3; ++i) {
    for (const Cover& cover : binding.covers[i]) CHECK(binding.covers[cover.by.index()].empty());
  }
  CHECK(by(binding.covers[1]) == std::vector<LinkId>{LinkId(2), LinkId(0)});
}

}  // namespace
}  // namespace weir
