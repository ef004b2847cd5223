#include "core/strategies/simplex.h"

#include <vector>

namespace weir {
namespace {

constexpr double kZero = 1e-9;   // a pivot
constexpr double kCost = 1e-12;  // a reduced cost

// The tableau: one row a constraint, then the row of reduced costs; the last column holds the right-hand
// sides.
struct Tableau {
  Eigen::MatrixXd cells;
  std::vector<Eigen::Index> basis;  // the basic variable of each row

  Eigen::Index rows() const { return cells.rows() - 1; }
  Eigen::Index columns() const { return cells.cols() - 1; }

  void pivot(Eigen::Index row, Eigen::Index column) {
    cells.row(row) /= cells(row, column);
    for (Eigen::Index r = 0; r < cells.rows(); ++r) {
      if (r != row && cells(r, column) != 0.0) cells.row(r) -= cells(r, column) * cells.row(row);
    }
    basis[static_cast<std::size_t>(row)] = column;
  }

  // Bland's rule: the first column that improves, the first basic variable among the tightest rows.
  bool minimise(Eigen::Index usable_columns) {
    while (true) {
      Eigen::Index column = 0;
      while (column < usable_columns && cells(rows(), column) >= -kCost) ++column;
      if (column == usable_columns) return true;
      Eigen::Index best = -1;
      for (Eigen::Index r = 0; r < rows(); ++r) {
        if (cells(r, column) <= kZero) continue;
        const double ratio = cells(r, columns()) / cells(r, column);
        const double best_ratio = best < 0 ? 0.0 : cells(best, columns()) / cells(best, column);
        const bool tie = best >= 0 && ratio <= best_ratio + kZero;
        const bool earlier =
            tie && basis[static_cast<std::size_t>(r)] < basis[static_cast<std::size_t>(best)];
        if (best < 0 || ratio < best_ratio - kZero || earlier) best = r;
      }
      if (best < 0) return false;  // the cost falls without end
      pivot(best, column);
    }
  }
};

}  // namespace

std::optional<Eigen::VectorXd> minimise(const Eigen::VectorXd& cost, const Eigen::MatrixXd& a,
                                        const Eigen::VectorXd& b, const Eigen::MatrixXd& e,
                                        const Eigen::VectorXd& f) {
  const Eigen::Index variables = cost.size();
  const Eigen::Index rows = a.rows() + e.rows();
  const Eigen::Index slacks = a.rows();
  const Eigen::Index artificial = variables + slacks;  // one artificial variable a row, for phase one
  Tableau tableau{Eigen::MatrixXd::Zero(rows + 1, artificial + rows + 1), {}};
  for (Eigen::Index r = 0; r < rows; ++r) {
    const bool inequality = r < slacks;
    auto row = tableau.cells.row(r);
    row.head(variables) = inequality ? a.row(r) : e.row(r - slacks);
    if (inequality) row(variables + r) = 1.0;
    row(tableau.columns()) = inequality ? b(r) : f(r - slacks);
    if (row(tableau.columns()) < 0) row *= -1.0;
    row(artificial + r) = 1.0;
    tableau.basis.push_back(artificial + r);
  }
  // Phase one drives the artificial variables to zero.
  for (Eigen::Index r = 0; r < rows; ++r) tableau.cells.row(rows) -= tableau.cells.row(r);
  tableau.cells.row(rows).segment(artificial, rows).setZero();
  tableau.minimise(artificial);
  if (tableau.cells(rows, tableau.columns()) < -1e-5) return std::nullopt;
  for (Eigen::Index r = 0; r < rows; ++r) {
    if (tableau.basis[static_cast<std::size_t>(r)] < artificial) continue;
    for (Eigen::Index c = 0; c < artificial; ++c) {
      if (std::abs(tableau.cells(r, c)) > kZero) {
        tableau.pivot(r, c);
        break;
      }
    }
  }
  // Phase two minimises the cost.
  tableau.cells.row(rows).setZero();
  tableau.cells.row(rows).head(variables) = cost.transpose();
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Eigen::Index basic = tableau.basis[static_cast<std::size_t>(r)];
    if (basic < variables) tableau.cells.row(rows) -= cost(basic) * tableau.cells.row(r);
  }
  if (!tableau.minimise(artificial)) return std::nullopt;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(variables);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Eigen::Index basic = tableau.basis[static_cast<std::size_t>(r)];
    if (basic < variables) x(basic) = tableau.cells(r, tableau.columns());
  }
  return x;
}

}  // namespace weir
