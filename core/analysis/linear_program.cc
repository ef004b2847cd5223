#include "core/analysis/linear_program.h"

#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <vector>

namespace weir {

std::optional<Eigen::VectorXd> minimise(const Eigen::VectorXd& cost, const Eigen::MatrixXd& a,
                                        const Eigen::VectorXd& b, const Eigen::MatrixXd& e,
                                        const Eigen::VectorXd& f) {
  const Eigen::Index variables = cost.size();
  const Eigen::Index rows = a.rows() + e.rows();
  Eigen::MatrixXd all(rows, variables);
  all << a, e;
  std::vector<int> row_of;
  std::vector<int> column_of;
  std::vector<double> value_of;
  for (Eigen::Index column = 0; column < variables; ++column) {
    for (Eigen::Index row = 0; row < rows; ++row) {
      if (all(row, column) == 0.0) continue;
      row_of.push_back(static_cast<int>(row));
      column_of.push_back(static_cast<int>(column));
      value_of.push_back(all(row, column));
    }
  }
  CoinPackedMatrix matrix(true, row_of.data(), column_of.data(), value_of.data(),
                          static_cast<CoinBigIndex>(value_of.size()));
  matrix.setDimensions(static_cast<int>(rows), static_cast<int>(variables));
  Eigen::VectorXd least(rows);
  Eigen::VectorXd most(rows);
  least << Eigen::VectorXd::Constant(a.rows(), -COIN_DBL_MAX), f;
  most << b, f;

  ClpSimplex program;
  program.setLogLevel(0);
  const Eigen::VectorXd lower = Eigen::VectorXd::Zero(variables);
  const Eigen::VectorXd upper = Eigen::VectorXd::Constant(variables, COIN_DBL_MAX);
  program.loadProblem(matrix, lower.data(), upper.data(), cost.data(), least.data(), most.data());
  program.setPrimalTolerance(1e-9);
  program.setDualTolerance(1e-9);
  program.dual();
  if (!program.isProvenOptimal()) return std::nullopt;
  return Eigen::Map<const Eigen::VectorXd>(program.primalColumnSolution(), variables);
}

}  // namespace weir
