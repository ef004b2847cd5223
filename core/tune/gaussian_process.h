// What measurements at some points let expect at others: a Gaussian process with a Matern 5/2 kernel.
// Rasmussen and Williams, Gaussian Processes for Machine Learning (MIT Press, 2006): equations 2.25 and 2.26
// for beliefs, 2.30 for the likelihood, 4.17 for the kernel.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

namespace weir::tune {

/// What is believed of a function's value: a normal distribution.
struct Belief {
  double mean = 0;
  double deviation = 0;  // of the function, without the noise of a measurement
};

/// How values at two points hang together. Lengths are of coordinates, the others of values.
struct Kernel {
  double deviation = 1;         // of the function about its mean
  double noise = 0.1;           // deviation of a measurement about the function
  std::vector<double> lengths;  // by owner of coordinates: over which the function changes

  /// The covariance of the function's values at two points that are this far apart, in lengths.
  double covariance(double distance) const;
};

/// Where measurements were taken, a row each, and what came out.
struct Measurements {
  Eigen::MatrixXd points;
  Eigen::VectorXd values;
  std::vector<std::size_t> owners;  // by column: which length it has
};

/// A value. The function is taken to be 0 where nothing is known.
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

/// The kernel that makes the measurements most likely, given that lengths are some third of the range of a
/// coordinate, and noise is small beside the function, unless measurements say otherwise (normal priors on
/// the logarithms; without them a handful of measurements is often most likely as pure noise). Values have
/// mean 0 and deviation 1. `least_noise` is a deviation.
Kernel fitted_kernel(const Measurements& measurements, double least_noise);

}  // namespace weir::tune
