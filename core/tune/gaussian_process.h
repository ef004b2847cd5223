// Predicts values at points from measurements at other points: a Gaussian process with a Matern 5/2 kernel.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (MIT Press, 2006), equations 2.25
// and 2.26 for beliefs, 2.30 for the likelihood, 4.17 for the kernel.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

namespace weir::tune {

/// The prediction of a function's value: a normal distribution.
struct Belief {
  double mean = 0;
  double deviation = 0;  // of the function's value; measurement noise is not included
};

/// How values at two points are correlated. Lengths are in units of coordinates, the others in units of
/// values.
struct Kernel {
  double deviation = 1;         // of the function about its mean
  double noise = 0.1;           // of a measurement about the function, as a deviation
  std::vector<double> lengths;  // by owner of coordinates: over what distance the function changes

  /// The covariance of the function's values at two points at this distance, which is in units of lengths.
  double covariance(double distance) const;
};

/// The points that were measured, one a row, and the measured values.
struct Measurements {
  Eigen::MatrixXd points;
  Eigen::VectorXd values;
  std::vector<std::size_t> owners;  // by column: the index of its length
};

/// A value. The prior mean of the function is 0.
class GaussianProcess {
 public:
  GaussianProcess(Measurements measurements, Kernel kernel);

  const Kernel& kernel() const { return kernel_; }
  Belief at(const Eigen::VectorXd& point) const;
  /// The logarithm of the likelihood of all measurements.
  double log_likelihood() const { return log_likelihood_; }

 private:
  double covariance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;

  Measurements measurements_;
  Kernel kernel_;
  Eigen::LLT<Eigen::MatrixXd> factor_;  // of the covariance of measurements
  Eigen::VectorXd weights_;             // its inverse times the values
  double log_likelihood_ = 0;
};

/// The most likely kernel for the measurements. Normal priors on the logarithms assume lengths of about a
/// third of a coordinate's range, and little noise; measurements can override them. Without priors, a handful
/// of measurements would often be explained best as pure noise. Values must have mean 0 and deviation 1.
/// `least_noise` is a deviation.
Kernel fitted_kernel(const Measurements& measurements, double least_noise);

}  // namespace weir::tune
