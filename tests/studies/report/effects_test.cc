#include "studies/report/effects.h"

#include "studies/report/additive_fit.h"
#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("a sum of functions is recovered from runs in which all values vary together") {
  // 3 for one name, 5 for the other, plus 2t - t^2; the points do not form a grid.
  std::vector<std::vector<AdditiveFit::Basis>> runs;
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) {
    const double t = (i * 7 % 12) / 6.0 - 1;
    const bool other = i % 5 < 2;
    runs.push_back({{other ? 1.0 : 0.0}, {t, t * t}});
    values.push_back((other ? 5 : 3) + 2 * t - t * t);
  }
  const auto fit = AdditiveFit::of(runs, values);
  REQUIRE(fit);
  CHECK(fit->explained() == Approx(1));
  CHECK(fit->at(0, {1}) - fit->at(0, {0}) == Approx(2));
  CHECK(fit->at(1, {1, 1}) - fit->at(1, {-1, 1}) == Approx(4));
  values[3] += 4;
  CHECK(AdditiveFit::of(runs, values)->explained() < 0.95);
}

TEST_CASE("on a whole grid the fit is the mean over all else") {
  const double values[2][3] = {{1, 4, 2}, {8, 5, 7}};
  std::vector<std::vector<AdditiveFit::Basis>> runs;
  std::vector<double> all;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      runs.push_back({{i == 1 ? 1.0 : 0.0}, {j == 1 ? 1.0 : 0.0, j == 2 ? 1.0 : 0.0}});
      all.push_back(values[i][j]);
    }
  }
  const auto fit = AdditiveFit::of(runs, all);
  CHECK(fit->at(0, {0}) == Approx(7.0 / 3));
  CHECK(fit->at(0, {1}) == Approx(20.0 / 3));
  CHECK(fit->at(1, {0, 1}) == Approx(4.5));
}

TEST_CASE("too few runs show nothing, and values that never varied have no effect") {
  CHECK_FALSE(AdditiveFit::of({}, {}));
  CHECK_FALSE(AdditiveFit::of({{{1, 2}}, {{2, 3}}}, {1, 2}));
  const auto fit = AdditiveFit::of({{{1}, {0}}, {{2}, {0}}, {{3}, {0}}}, {1, 2, 3});
  CHECK(fit->at(1, {0}) == Approx(2));
}

TEST_CASE("resources of one kind differ in their numbers alone") {
  CHECK(kind_of_resource("gpu[3].nic0.out") == "gpu.nic.out");
  CHECK(kind_of_resource("cpu[0].numa1 sum") == "cpu.numa sum");
  CHECK(kind_of_resource("critical path") == "critical path");
}

TEST_CASE("a median lies in the middle") {
  CHECK(median({1}) == 1);
  CHECK(median({1, 2, 9}) == 2);
  CHECK(median({1, 2, 4, 9}) == 3);
}

}  // namespace
}  // namespace weir
