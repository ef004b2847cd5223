#include "core/calibrate/least_squares.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"

namespace weir {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostRounds = 100;
constexpr int kDraws = 500;
constexpr double kSettled = 1e-10;
constexpr double kTukey = 4.685;      // 95 % of the efficiency of least squares for normal errors
constexpr double kOfMiddle = 1.4826;  // standard deviation over median absolute deviation

double middle(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Each measurement has a weight, in units of one over a variance.
VectorXd solve(const LeastSquares& problem, const VectorXd& weights) {
  const Eigen::Index rows = problem.a.rows();
  const Eigen::Index priors = problem.prior_a.rows();
  const Eigen::Index columns = rows > 0 ? problem.a.cols() : problem.prior_a.cols();
  MatrixXd a(rows + priors, columns);
  VectorXd b(rows + priors);
  const VectorXd roots = weights.cwiseSqrt();
  if (rows > 0) a.topRows(rows) = roots.asDiagonal() * problem.a;
  if (rows > 0) b.head(rows) = roots.cwiseProduct(problem.b);
  if (priors > 0) a.bottomRows(priors) = problem.prior_a;
  if (priors > 0) b.tail(priors) = problem.prior_b;
  // Columns differ by many orders of magnitude: seconds beside seconds per byte.
  VectorXd scale = a.colwise().norm().transpose();
  for (double& one : scale) one = one > 0 ? one : 1.0;
  const MatrixXd scaled = a * scale.cwiseInverse().asDiagonal();
  return scale.cwiseInverse().asDiagonal() * scaled.completeOrthogonalDecomposition().solve(b);
}

/// Draws as many measurements as there are unknowns at random, and fits them exactly. The best of many draws
/// is the one with the smallest median residual (Rousseeuw's least median of squares, JASA 1984). Returns it
/// with its spread. From there Tukey's weights, which ignore distant measurements, find the fit of the most.
std::pair<VectorXd, double> least_median(const LeastSquares& problem) {
  const auto rows = static_cast<std::int64_t>(problem.a.rows());
  const Eigen::Index columns = problem.a.cols();
  const double exact = 1 / (problem.finest * problem.finest);
  Random random(1);
  std::pair<VectorXd, double> best;
  for (int draw = 0; draw < kDraws; ++draw) {
    VectorXd weights = VectorXd::Zero(rows);
    if (draw == 0) weights.setConstant(exact);  // all of them, best without outliers
    for (Eigen::Index i = 0; draw > 0 && i < columns; ++i) weights[random.between(0, rows - 1)] = exact;
    const VectorXd x = solve(problem, weights);
    const double spread = spread_of(problem.a * x - problem.b, columns, problem.finest);
    if (draw == 0 || spread < best.second) best = {x, spread};
  }
  return best;
}

VectorXd standard_errors(const LeastSquares& problem, const VectorXd& weights, double spread) {
  MatrixXd information = problem.a.transpose() * (weights / (spread * spread)).asDiagonal() * problem.a;
  if (problem.prior_a.rows() > 0) information += problem.prior_a.transpose() * problem.prior_a;
  VectorXd scale = information.diagonal().cwiseSqrt();
  for (double& one : scale) one = one > 0 ? one : 1.0;
  const MatrixXd scaled = scale.cwiseInverse().asDiagonal() * information * scale.cwiseInverse().asDiagonal();
  const MatrixXd covariance = scaled.completeOrthogonalDecomposition().pseudoInverse();
  return scale.cwiseInverse().asDiagonal() * covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
}

}  // namespace

LeastSquaresFit robust_fit(const LeastSquares& problem) {
  WEIR_CHECK(problem.a.rows() + problem.prior_a.rows() > 0);
  WEIR_CHECK(problem.a.rows() == problem.b.size(), problem.a.rows(), problem.b.size());
  LeastSquaresFit fit;
  fit.weights = VectorXd::Constant(problem.b.size(), 1.0);
  if (problem.b.size() == 0) {
    fit.x = solve(problem, fit.weights);
    fit.standard_errors = standard_errors(problem, fit.weights, problem.finest);
    return fit;
  }
  std::tie(fit.x, fit.spread) = least_median(problem);
  for (int round = 0; round < kMostRounds; ++round) {
    const VectorXd residuals = problem.a * fit.x - problem.b;
    for (Eigen::Index i = 0; i < residuals.size(); ++i) {
      const double far = residuals[i] / (kTukey * fit.spread);
      fit.weights[i] = std::abs(far) < 1 ? std::pow(1 - far * far, 2) : 0.0;
    }
    const VectorXd next = solve(problem, fit.weights / (fit.spread * fit.spread));
    const bool settled = (next - fit.x).norm() <= kSettled * fit.x.norm();
    fit.x = next;
    // Few draws may agree by chance, so the spread is at least that around the fit of all measurements.
    const double spread = spread_of(problem.a * fit.x - problem.b, problem.a.cols(), problem.finest);
    if (settled && spread <= fit.spread * (1 + kSettled)) break;
    fit.spread = std::max(fit.spread, spread);
  }
  fit.standard_errors = standard_errors(problem, fit.weights, fit.spread);
  return fit;
}

double spread_of(const VectorXd& residuals, Eigen::Index columns, double finest) {
  std::vector<double> absolute;
  for (const double residual : residuals) absolute.push_back(std::abs(residual));
  // The fit makes as many residuals zero as it has columns.
  std::sort(absolute.begin(), absolute.end());
  const auto exact = std::min<std::ptrdiff_t>(columns, std::ssize(absolute) - 1);
  return std::max(finest, kOfMiddle * middle({absolute.begin() + exact, absolute.end()}));
}

double robust_loss(double residual) {
  const double inside = 1 - std::min(std::pow(residual / kTukey, 2), 1.0);
  return kTukey * kTukey / 6 * (1 - inside * inside * inside);
}

}  // namespace weir
