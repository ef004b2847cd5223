#include "core/tune/gaussian_process.h"

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "core/tune/expected_improvement.h"
#include "tests/catch.h"

namespace weir::tune {
namespace {

// Four points with two coordinates each.
Measurements four() {
  Measurements four;
  four.points.resize(4, 2);
  four.points << 0.1, 0.2, 0.4, 0.9, 0.8, 0.3, 0.95, 0.7;
  four.values.resize(4);
  four.values << 1.0, -0.5, 0.3, -0.8;
  four.owners = {0, 1};
  return four;
}

Eigen::VectorXd at(double x, double y) {
  Eigen::VectorXd point(2);
  point << x, y;
  return point;
}

// The numbers come from NumPy. K is the covariance matrix of the four points plus 0.01 times the identity; k
// holds the covariances of the new point with each. The formulas are k @ solve(K, y),
// sqrt(1.44 - k @ solve(K, k)), and -y @ solve(K, y) / 2 - slogdet(K)[1] / 2 - 2 * log(2 * pi).
TEST_CASE("beliefs and the likelihood match NumPy's") {
  const GaussianProcess process(four(), Kernel{1.2, 0.1, {0.3, 0.6}});
  CHECK(process.at(at(0.5, 0.5)).mean == Approx(0.03493934107122004));
  CHECK(process.at(at(0.5, 0.5)).deviation == Approx(0.7592424251109583));
  CHECK(process.at(at(0.1, 0.2)).mean == Approx(0.9919656738830678));
  CHECK(process.at(at(0.1, 0.2)).deviation == Approx(0.09962713528881319));
  CHECK(process.at(at(3, 3)).mean == Approx(-3.75535577013089e-06).epsilon(1e-4));
  CHECK(process.at(at(3, 3)).deviation == Approx(1.1999999999933));
  CHECK(process.log_likelihood() == Approx(-5.218633688331899));
}

TEST_CASE("coordinates of one owner share one length") {
  Measurements measurements = four();
  measurements.owners = {0, 0};
  const GaussianProcess one(measurements, Kernel{1, 0.1, {0.5}});
  const GaussianProcess two(four(), Kernel{1, 0.1, {0.5, 0.5}});
  CHECK(one.log_likelihood() == two.log_likelihood());
}

// Values of a function that changes only along the first coordinate, with noise of this deviation.
Measurements waves(double noise) {
  constexpr int kCount = 60;
  Random random(7);
  Measurements all;
  all.points.resize(kCount, 2);
  all.values.resize(kCount);
  all.owners = {0, 1};
  for (int i = 0; i < kCount; ++i) {
    all.points(i, 0) = random.uniform();
    all.points(i, 1) = random.uniform();
    all.values(i) = std::sqrt(2.0) * std::sin(6 * all.points(i, 0)) + noise * random.normal();
  }
  return all;
}

TEST_CASE("the fitted kernel finds the noise and the coordinate that matters") {
  for (const double noise : {0.05, 0.3}) {
    const Kernel kernel = fitted_kernel(waves(noise), 1e-3);
    CHECK(kernel.noise == Approx(noise).epsilon(0.35));
    CHECK(kernel.lengths[1] > 2 * kernel.lengths[0]);
  }
  CHECK(fitted_kernel(waves(0), 1e-3).noise < 0.02);
}

TEST_CASE("a point may be measured several times with equal results") {
  Measurements same;
  same.points = Eigen::MatrixXd::Constant(5, 1, 0.5);
  same.values = Eigen::VectorXd::Zero(5);
  same.owners = {0};
  const Belief belief =
      GaussianProcess(same, fitted_kernel(same, 1e-3)).at(Eigen::VectorXd::Constant(1, 0.5));
  CHECK(belief.mean == Approx(0).margin(1e-9));
  CHECK(std::isfinite(belief.deviation));
}

TEST_CASE("expected improvement is the integral of the improvement over the belief") {
  for (const Belief belief : {Belief{0, 1}, Belief{1.5, 0.7}, Belief{-2, 0.3}, Belief{4, 1}}) {
    const double best = 0.4;
    double sum = 0;
    constexpr int kSteps = 200'000;
    const double step = 20.0 / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const double z = -10 + (i + 0.5) * step;
      const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
      sum += std::max(0.0, best - (belief.mean + belief.deviation * z)) * density * step;
    }
    CHECK(expected_improvement(belief, best) == Approx(sum).epsilon(1e-6).margin(1e-9));
  }
  CHECK(expected_improvement({1, 0}, 3) == 2);
  CHECK(expected_improvement({3, 0}, 1) == 0);
}

}  // namespace
}  // namespace weir::tune
