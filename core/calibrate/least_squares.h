// Least squares that resist outliers. All fits of a calibration use them.
#pragma once

#include <Eigen/Dense>

namespace weir {

/// Find x such that a x is close to b. Each row is one measurement, scaled so that all rows are about equally
/// exact (for example, divided by the measured value). Rows of the prior state what is believed beforehand.
/// They are scaled by their standard deviation, and matter where measurements say nothing.
struct LeastSquares {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
  Eigen::MatrixXd prior_a;  // no rows: no prior
  Eigen::VectorXd prior_b;
  double finest = 1e-4;  // the smallest spread assumed of measurements, in units of b
};

struct LeastSquaresFit {
  Eigen::VectorXd x;
  Eigen::VectorXd standard_errors;  // of x
  Eigen::VectorXd weights;          // of the measurements, from 0 (outlier) to 1
  double spread = 0.0;              // standard deviation of the residuals without outliers
};

/// An MM-estimate (Yohai, Annals of Statistics 1987). It starts from the least median of squares, takes the
/// spread from the median residual, and then reweights by Tukey's biweight (c = 4.685) until nothing moves.
/// Up to a third of the rows may be outliers. Needs at least one row of measurements or prior. Deterministic.
LeastSquaresFit robust_fit(const LeastSquares& problem);

/// The standard deviation of residuals, estimated from their median. The fit had `columns` unknowns. At least
/// `finest`.
double spread_of(const Eigen::VectorXd& residuals, Eigen::Index columns, double finest);

/// The cost (Tukey) of a residual, given in multiples of the spread: half its square where it is small,
/// bounded where it is large, as for an outlier.
double robust_loss(double residual);

}  // namespace weir
