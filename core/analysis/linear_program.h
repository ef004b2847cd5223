// Linear programs, for the optimal split: a handful of variables and some dozens of constraints. COIN-OR's
// Clp solves them.
#pragma once

#include <Eigen/Dense>
#include <optional>

namespace weir {

/// Minimises cost . x over x >= 0 with a x <= b and e x = f (rows of `a` and `e`). None if no x satisfies
/// them or the cost has no lower bound. Constraints hold to 1e-9 if numbers are scaled to about 1.
/// Deterministic.
std::optional<Eigen::VectorXd> minimise(const Eigen::VectorXd& cost, const Eigen::MatrixXd& a,
                                        const Eigen::VectorXd& b, const Eigen::MatrixXd& e,
                                        const Eigen::VectorXd& f);

}  // namespace weir
