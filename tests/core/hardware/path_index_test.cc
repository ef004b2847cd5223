#include "core/hardware/path_index.h"

#include <algorithm>
#include <vector>

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("each path is in the list once, in the order of first occurrence") {
  Paths paths;
  PathIndex index;
  std::vector<Path> known;
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    Path path;
    for (auto link = random.between(0, 3); link < 40; link += random.between(1, 30))
      path.push_back({LinkId(static_cast<std::size_t>(link)), static_cast<int>(random.between(1, 2))});
    const auto number = static_cast<std::size_t>(index.of(path, paths));
    REQUIRE(number <= known.size());
    if (number == known.size()) known.push_back(path);
    REQUIRE(known[number] == path);
  }
  REQUIRE(paths.size() == known.size());
  CHECK(known.size() > 1000);
  for (std::size_t i = 0; i < known.size(); ++i) {
    CHECK(std::ranges::equal(paths[i], known[i]));
    CHECK(index.of(known[i], paths) == static_cast<int>(i));
  }
  CHECK(paths.size() == known.size());
}

}  // namespace
}  // namespace weir
