// What weir run prints below its table.
#include "apps/weir/text/run_text.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

constexpr const char* kTwoMachines = R"({
  "topology": {"name": "lab", "groups": [
    {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
  "trace": {"name": "net", "layers": [
    {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "v", "elements": 500000}]}]},
  "strategies": ["ring"], "seeds": [1, 2]
})";

// Two runs whose bounds are these percentages of their times.
Results ended_at(bool simulated, std::optional<double> first, std::optional<double> second,
                 std::optional<double> difference = {}) {
  const Folder folder;
  const ExperimentFile file = ExperimentFile::read(folder.write("e.json", kTwoMachines)).value();
  World world{"some", "", {}, {}};
  world.simulated = simulated;
  Results results(file, configuration_of(file).value(), folder.path(), world);
  std::size_t index = 0;
  for (const std::optional<double> percent : {first, second}) {
    Outcome outcome{Outcome::Kind::kRow, {}, {}};
    outcome.row.strategy = "ring";
    outcome.row.iteration_ns = 1'000'000;
    outcome.row.bound_percent = percent;
    if (index == 0) outcome.row.link_rate_difference = difference;
    results.add(index++, std::move(outcome));
  }
  return results;
}

TEST_CASE("a note says why runs may end below their bounds") {
  CHECK(below_bound(ended_at(false, 99.0, 100.0)).empty());
  CHECK(below_bound(ended_at(false, std::nullopt, 100.04)).empty());  // the table shows 100.0 %
  const std::string real = below_bound(ended_at(false, 90.0, 100.05));
  CHECK_THAT(real, has_text("ended below its bound"));
  CHECK_THAT(real, has_text("links or computation were faster than these say"));
  CHECK(std::count(real.begin(), real.end(), '\n') == 1);
  CHECK_THAT(below_bound(ended_at(true, 105.0, 90.0)), has_text("jitter may shorten computation"));
}

TEST_CASE("a note says how exactly the rates of bounds are known") {
  CHECK(measured_rates(ended_at(true, 99.0, 99.0)).empty());
  CHECK_THAT(measured_rates(ended_at(false, 99.0, 99.0, 0.034)), has_text("links differed by up to 3.4 %"));
}

}  // namespace
}  // namespace weir
