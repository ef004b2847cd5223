// Least squares that outliers do not move: what all fits of a calibration are made with.
#pragma once

#include <Eigen/Dense>

namespace weir {

/// What is to be found: x with a x close to b. Each row is one measurement, scaled so that all rows are about
/// equally exact (as when divided by what was measured). Rows of the prior say what is believed beforehand,
/// scaled by their own uncertainty, 1 being one standard deviation; they pull where measurements say nothing.
struct LeastSquares {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
  Eigen::MatrixXd prior_a;  // no rows: nothing is believed
  Eigen::VectorXd prior_b;
  double finest = 1e-4;  // the least spread that measurements are taken to have, in units of b
};

struct LeastSquaresFit {
  Eigen::VectorXd x;
  Eigen::VectorXd standard_errors;  // of x
  Eigen::VectorXd weights;          // of the measurements, 0 (an outlier) to 1
  double spread = 0.0;              // standard deviation of the residuals of those that are none
};

/// Starts from the least median of squares, takes the spread from the middle residual, and then reweights by
/// Tukey's biweight (c = 4.685) until nothing moves: an MM-estimate (Yohai, Annals of Statistics 1987) with
/// that start. Outliers may be a third of the rows. There is at least one row of either kind. The same
/// problem gives the same fit.
LeastSquaresFit robust_fit(const LeastSquares& problem);

/// The standard deviation of residuals, by the middle one, of a fit of so many unknowns; at least `finest`.
double spread_of(const Eigen::VectorXd& residuals, Eigen::Index columns, double finest);

/// What a residual of so many spreads costs there: half its square where it is small, and no more than an
/// outlier's where it is large (Tukey).
double robust_loss(double residual);

}  // namespace weir
