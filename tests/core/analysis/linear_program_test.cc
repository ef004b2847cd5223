#include "core/analysis/linear_program.h"

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd matrix(Eigen::Index rows, Eigen::Index columns, std::initializer_list<double> values) {
  MatrixXd result(rows, columns);
  Eigen::Index i = 0;
  for (const double value : values) {
    result(i / columns, i % columns) = value;
    ++i;
  }
  return result;
}

VectorXd vector(std::initializer_list<double> values) {
  return matrix(static_cast<Eigen::Index>(values.size()), 1, values);
}

const MatrixXd kNone(0, 2);
const VectorXd kNothing(0);

TEST_CASE("the optimum lies in a corner") {
  // max 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18: x = 2, y = 6
  const auto x =
      minimise(vector({-3, -5}), matrix(3, 2, {1, 0, 0, 2, 3, 2}), vector({4, 12, 18}), kNone, kNothing);
  REQUIRE(x);
  CHECK((*x)(0) == Approx(2.0));
  CHECK((*x)(1) == Approx(6.0));
}

TEST_CASE("equations hold exactly, and rows may have negative right-hand sides") {
  // min x + 2y, x + y = 1, -x <= -0.25, y >= 0.5 as -y <= -0.5
  const auto x = minimise(vector({1, 2}), matrix(2, 2, {-1, 0, 0, -1}), vector({-0.25, -0.5}),
                          matrix(1, 2, {1, 1}), vector({1}));
  REQUIRE(x);
  CHECK((*x)(0) == Approx(0.5));
  CHECK((*x)(1) == Approx(0.5));
}

TEST_CASE("constraints that no x satisfies have no solution") {
  CHECK_FALSE(minimise(vector({1, 1}), matrix(1, 2, {1, 1}), vector({1}), matrix(1, 2, {1, 1}), vector({2})));
}

TEST_CASE("a cost without a lower bound has no solution") {
  CHECK_FALSE(minimise(vector({-1, 0}), matrix(1, 2, {0, 1}), vector({1}), kNone, kNothing));
}

TEST_CASE("Beale's example, on which the largest coefficient rule cycles, ends") {
  const auto x = minimise(vector({-0.75, 150, -0.02, 6}),
                          matrix(3, 4, {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}),
                          vector({0, 0, 1}), MatrixXd(0, 4), kNothing);
  REQUIRE(x);
  CHECK(vector({-0.75, 150, -0.02, 6}).dot(*x) == Approx(-0.05));
}

TEST_CASE("sharing a load over machines of very different rates ends at equal times") {
  // min T, rate_i x_i <= T, sum x = 1: x_i in proportion to 1 / rate_i
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Index n = random.between(1, 12);
    MatrixXd a = MatrixXd::Zero(n, n + 1);
    MatrixXd e = MatrixXd::Zero(1, n + 1);
    double inverse = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) {
      a(i, i) = std::exp(-8.0 * random.uniform());
      a(i, n) = -1.0;
      e(0, i) = 1.0;
      inverse += 1.0 / a(i, i);
    }
    const auto x = minimise(VectorXd::Unit(n + 1, n), a, VectorXd::Zero(n), e, VectorXd::Ones(1));
    REQUIRE(x);
    CHECK((*x)(n) == Approx(1.0 / inverse).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace weir
