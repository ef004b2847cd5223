// A small dense linear program solver, for the optimal split: a handful of variables, some dozens of
// constraints.
#pragma once

#include <Eigen/Dense>
#include <optional>

namespace weir {

/// Minimises cost . x over x >= 0 with a x <= b and e x = f (rows of `a` and `e`). None if no x satisfies
/// them or the cost has no lower bound. Two-phase tableau simplex with Bland's rule, which cannot cycle;
/// deterministic. Scale the numbers to about 1: values below 1e-9 count as zero.
std::optional<Eigen::VectorXd> minimise(const Eigen::VectorXd& cost, const Eigen::MatrixXd& a,
                                        const Eigen::VectorXd& b, const Eigen::MatrixXd& e,
                                        const Eigen::VectorXd& f);

}  // namespace weir
