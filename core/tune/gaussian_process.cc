#include "core/tune/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "core/base/check.h"

namespace weir::tune {
namespace {

constexpr double kJitter = 1e-10;  // relative; otherwise equal points would make the matrix singular

// The normal prior of the logarithm of a kernel parameter.
struct Prior {
  double mean;
  double deviation;
};
const Prior kDeviation{0.0, 0.7};
const Prior kLength{std::log(0.3), 0.8};
const Prior kNoise{std::log(0.02), 1.5};

double log_density(double value, const Prior& prior) {
  const double off = (value - prior.mean) / prior.deviation;
  return -0.5 * off * off;
}

// Makes a kernel from the logarithms of its deviation, its noise and its lengths.
Kernel kernel_of(const Eigen::VectorXd& logarithms, double least_noise) {
  Kernel kernel{std::exp(logarithms(0)), std::max(least_noise, std::exp(logarithms(1))), {}};
  for (Eigen::Index i = 2; i < logarithms.size(); ++i) kernel.lengths.push_back(std::exp(logarithms(i)));
  return kernel;
}

double log_posterior(const Measurements& measurements, const Eigen::VectorXd& logarithms,
                     double least_noise) {
  double sum = log_density(logarithms(0), kDeviation) + log_density(logarithms(1), kNoise);
  for (Eigen::Index i = 2; i < logarithms.size(); ++i) sum += log_density(logarithms(i), kLength);
  return sum + GaussianProcess(measurements, kernel_of(logarithms, least_noise)).log_likelihood();
}

// Hill climbing: steps along one coordinate at a time. Steps become shorter when none leads upwards.
std::pair<Eigen::VectorXd, double> climbed(const std::function<double(const Eigen::VectorXd&)>& height,
                                           Eigen::VectorXd at) {
  constexpr double kLeastStep = 0.02;
  double best = height(at);
  for (double step = 0.8; step > kLeastStep;) {
    bool higher = false;
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      for (const double way : {step, -step}) {
        Eigen::VectorXd next = at;
        next(i) += way;
        const double found = height(next);
        if (found <= best) continue;
        at = next;
        best = found;
        higher = true;
        break;
      }
    }
    if (!higher) step /= 2;
  }
  return {at, best};
}

}  // namespace

double Kernel::covariance(double distance) const {
  const double scaled = std::sqrt(5.0) * distance;
  return deviation * deviation * (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

GaussianProcess::GaussianProcess(Measurements measurements, Kernel kernel)
    : measurements_(std::move(measurements)), kernel_(std::move(kernel)) {
  const Eigen::Index count = measurements_.values.size();
  WEIR_CHECK(measurements_.points.rows() == count, measurements_.points.rows(), count);
  WEIR_CHECK(std::ssize(measurements_.owners) == measurements_.points.cols());
  Eigen::MatrixXd covariances(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j)
      covariances(i, j) = covariance(measurements_.points.row(i), measurements_.points.row(j));
    covariances(i, i) += kernel_.noise * kernel_.noise + kJitter * kernel_.deviation * kernel_.deviation;
  }
  factor_.compute(covariances);  // reads only the lower half
  weights_ = factor_.solve(measurements_.values);
  log_likelihood_ = -0.5 * measurements_.values.dot(weights_) -
                    factor_.matrixLLT().diagonal().array().log().sum() -
                    0.5 * static_cast<double>(count) * std::log(2 * std::numbers::pi);
}

double GaussianProcess::covariance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  double square = 0;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const double off = (a(i) - b(i)) / kernel_.lengths[measurements_.owners[static_cast<std::size_t>(i)]];
    square += off * off;
  }
  return kernel_.covariance(std::sqrt(square));
}

Belief GaussianProcess::at(const Eigen::VectorXd& point) const {
  Eigen::VectorXd covariances(measurements_.values.size());
  for (Eigen::Index i = 0; i < covariances.size(); ++i)
    covariances(i) = covariance(point, measurements_.points.row(i));
  const double known = factor_.matrixL().solve(covariances).squaredNorm();
  return {covariances.dot(weights_), std::sqrt(std::max(0.0, kernel_.covariance(0) - known))};
}

Kernel fitted_kernel(const Measurements& measurements, double least_noise) {
  std::size_t owners = 0;
  for (const std::size_t owner : measurements.owners) owners = std::max(owners, owner + 1);
  const auto height = [&](const Eigen::VectorXd& at) { return log_posterior(measurements, at, least_noise); };
  Eigen::VectorXd start(static_cast<Eigen::Index>(owners) + 2);
  std::pair<Eigen::VectorXd, double> best;
  // A smooth and a rough function may both explain the same few values, so climbing starts from either.
  for (const double length : {0.25, 1.0}) {
    start.setConstant(std::log(length));
    start(0) = kDeviation.mean;
    start(1) = kNoise.mean;
    auto found = climbed(height, start);
    if (best.first.size() == 0 || found.second > best.second) best = std::move(found);
  }
  return kernel_of(best.first, least_noise);
}

}  // namespace weir::tune
