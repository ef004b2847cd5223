#include "core/experiment/published.h"

#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

// An experiment with two points and this curve.
std::string with_curve(const std::string& curve) {
  return R"("strategies": ["unified", "ps"], "sweep": {"credit": [1, 2]},
    "published": {"source": "a paper", "calibrated_on": "nothing", "curves": [)" +
         curve + "]}";
}

TEST_CASE("published values are numbers in the unit of their measure, one for each point") {
  const Files files(with_curve(
      R"({"strategy": "ps", "measure": "iteration", "values": [null, "4ms"], "tolerance": 0.1},
         {"strategy": "unified", "measure": "goodput", "values": ["8Gbps", null], "tolerance": 0},
         {"strategy": "unified", "measure": "throughput", "values": [7, 1.5], "tolerance": 0})"));
  const Published published = files.read()->experiment({}).value().published.value();
  REQUIRE(published.curves.size() == 3);
  CHECK(published.curves[0].numbers == std::vector<std::optional<double>>{std::nullopt, 0.004});
  CHECK(published.curves[1].numbers == std::vector<std::optional<double>>{1e9, std::nullopt});
  CHECK(published.curves[2].numbers == std::vector<std::optional<double>>{7.0, 1.5});
  CHECK_FALSE(files.read({"credit=3"})->experiment({}).value().published);
}

TEST_CASE("published values that match no run are reported") {
  const auto error = [](const std::string& curve) { return Files(with_curve(curve)).error(); };
  CHECK(
      error(R"({"strategy": "ring", "measure": "speedup", "values": [1, 2], "tolerance": 0})") ==
      "experiment.json:3: published.curves[0].strategy: 'ring' is not among the strategies 'unified', 'ps'");
  CHECK(error(R"({"strategy": "ps", "measure": "speedup", "values": [1], "tolerance": 0})") ==
        "experiment.json:3: published.curves[0].values: there are 1 values, but the sweep has 2 points");
  CHECK(
      error(R"({"strategy": "ps", "measure": "iteration", "values": [5, "1mss"], "tolerance": 0})") ==
      "experiment.json:3: published.curves[0].values[0]: expected text such as '1400ms', not the integer 5\n"
      "experiment.json:3: published.curves[0].values[1]: '1mss' is not a duration; try 1ms");
  CHECK(error(R"({"strategy": "ps", "measure": "iteration", "values": ["0s", "1ms"], "tolerance": 0})") ==
        "experiment.json:3: published.curves[0].values[0]: expected a value above 0, not '0s'");
  CHECK(error(R"({"strategy": "ps", "measure": "speedup", "values": [-1, 2], "tolerance": 2})") ==
        "experiment.json:3: published.curves[0].tolerance: 2 is too large; at most 1\n"
        "experiment.json:3: published.curves[0].values[0]: expected a number above 0, or null, not the "
        "integer -1");
}

}  // namespace
}  // namespace weir
