#include "tests/golden/table.h"

#include <fstream>
#include <sstream>

#include "tests/catch.h"

namespace weir {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

// If these times change on purpose, weir_rewrite_goldens rewrites them.
TEST_CASE("every strategy takes on every shipped topology what it took before") {
  std::ifstream stream(golden::file());
  std::stringstream kept;
  kept << stream.rdbuf();
  const std::vector<std::string> before = lines(kept.str());
  const std::vector<std::string> now = lines(golden::table());
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) CHECK(now[i] == before[i]);
  CHECK(now.size() == before.size());
}

}  // namespace
}  // namespace weir
