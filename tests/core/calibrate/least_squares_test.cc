#include "core/calibrate/least_squares.h"

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

constexpr double kOverhead = 20e-6;  // seconds
constexpr double kSecondsPerByte = 1e-9;

// Times of messages of 4 KB to 16 MB with an error of 1 %. Every tenth or fifth is far off.
LeastSquares line(std::uint64_t seed, int every) {
  Random random(seed);
  constexpr int kPoints = 60;
  LeastSquares problem;
  problem.a.resize(kPoints, 2);
  problem.b = Eigen::VectorXd::Ones(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    const double size = std::exp2(12 + 12 * random.uniform());
    double time = (kOverhead + kSecondsPerByte * size) * (1 + 0.01 * random.normal());
    if (every > 0 && i % every == 0) time *= random.uniform() < 0.5 ? 8 : 0.3;
    problem.a(i, 0) = size / time;
    problem.a(i, 1) = 1 / time;
  }
  return problem;
}

TEST_CASE("Outliers of ten and twenty per cent do not move a fit") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LeastSquaresFit clean = robust_fit(line(seed, 0));
    CHECK(clean.x[0] == Approx(kSecondsPerByte).epsilon(0.01));
    CHECK(clean.x[1] == Approx(kOverhead).epsilon(0.02));
    for (const int every : {10, 5}) {
      INFO("seed " << seed << ", each " << every << "th is off");
      const LeastSquares with = line(seed, every);
      const LeastSquaresFit fit = robust_fit(with);
      CHECK(fit.x[0] == Approx(kSecondsPerByte).epsilon(0.01));
      CHECK(fit.x[1] == Approx(kOverhead).epsilon(0.02));
      for (int i = 0; i < with.b.size(); i += every) CHECK(fit.weights[i] == 0.0);
      // Outliers do move the plain fit, so this test can fail.
      const Eigen::VectorXd plain = with.a.colPivHouseholderQr().solve(with.b);
      CHECK(std::abs(plain[0] / kSecondsPerByte - 1) > 0.02);
    }
  }
}

TEST_CASE("Standard errors say by how much fits differ") {
  double off = 0;
  double said = 0;
  constexpr int kFits = 200;
  for (int seed = 0; seed < kFits; ++seed) {
    const LeastSquaresFit fit = robust_fit(line(static_cast<std::uint64_t>(seed) + 100, 0));
    off += std::pow(fit.x[1] - kOverhead, 2) / kFits;
    said += std::pow(fit.standard_errors[1], 2) / kFits;
  }
  CHECK(std::sqrt(said) == Approx(std::sqrt(off)).epsilon(0.2));
}

TEST_CASE("The prior decides where measurements say nothing") {
  LeastSquares problem;
  problem.a = Eigen::MatrixXd::Zero(8, 2);
  problem.a.col(0).setOnes();
  problem.b = Eigen::VectorXd::Constant(8, 3.0);
  problem.prior_a = Eigen::MatrixXd::Identity(2, 2) * 10.0;
  problem.prior_b = Eigen::Vector2d(20.0, 50.0);  // 2 and 5, each with a standard deviation of 0.1
  const LeastSquaresFit fit = robust_fit(problem);
  CHECK(fit.x[0] == Approx(3.0).epsilon(1e-4));
  CHECK(fit.x[1] == Approx(5.0));
  CHECK(fit.standard_errors[1] == Approx(0.1));
}

TEST_CASE("One measurement alone is a fit") {
  LeastSquares problem;
  problem.a = Eigen::MatrixXd::Constant(1, 1, 2.0);
  problem.b = Eigen::VectorXd::Constant(1, 1.0);
  CHECK(robust_fit(problem).x[0] == Approx(0.5));
}

}  // namespace
}  // namespace weir
