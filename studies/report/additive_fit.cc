#include "studies/report/additive_fit.h"

#include <Eigen/Dense>
#include <numeric>

namespace weir {
namespace {

double product(const AdditiveFit::Basis& a, const AdditiveFit::Basis& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::optional<AdditiveFit> AdditiveFit::of(const std::vector<std::vector<Basis>>& runs,
                                           const std::vector<double>& values) {
  if (runs.empty()) return std::nullopt;
  Eigen::Index width = 1;
  for (const Basis& basis : runs.front()) width += static_cast<Eigen::Index>(basis.size());
  const auto height = static_cast<Eigen::Index>(runs.size());
  if (height < width) return std::nullopt;
  Eigen::MatrixXd matrix(height, width);
  Eigen::VectorXd target(height);
  for (Eigen::Index i = 0; i < height; ++i) {
    const auto run = static_cast<std::size_t>(i);
    Eigen::Index column = 0;
    matrix(i, column++) = 1;
    for (const Basis& basis : runs[run])
      for (const double number : basis) matrix(i, column++) = number;
    target(i) = values[run];
  }
  // Where runs cannot distinguish effects, this chooses the smallest weights that fit.
  const Eigen::VectorXd weights = matrix.completeOrthogonalDecomposition().solve(target);
  AdditiveFit fit;
  fit.mean_ = target.mean();
  const double all = (target.array() - fit.mean_).square().sum();
  const double rest = (target - matrix * weights).squaredNorm();
  fit.explained_ = all > 0 ? 1 - rest / all : 1;
  Eigen::Index column = 1;
  for (std::size_t thing = 0; thing < runs.front().size(); ++thing) {
    Basis own(runs.front()[thing].size());
    for (double& weight : own) weight = weights(column++);
    double middle = 0;
    for (const std::vector<Basis>& run : runs) middle += product(own, run[thing]);
    fit.middle_.push_back(middle / static_cast<double>(runs.size()));
    fit.weights_.push_back(std::move(own));
  }
  return fit;
}

double AdditiveFit::at(std::size_t thing, const Basis& basis) const {
  return mean_ + product(weights_[thing], basis) - middle_[thing];
}

}  // namespace weir
