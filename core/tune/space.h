// The space of a search: every combination of one value for each of several parameters. A search knows a
// value only by its number; coordinates say how near two values are.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "core/base/random.h"

namespace weir::tune {

/// One parameter. A value.
class Dimension {
 public:
  /// Quantities in ascending order. If all are above 0, two are near if their ratio is near 1; otherwise if
  /// their difference is near 0.
  static Dimension quantities(const std::vector<double>& ascending);
  /// `count` choices, all at the same distance from each other.
  static Dimension choices(std::size_t count);

  std::size_t size() const { return size_; }
  /// The number of coordinates: one for quantities, one for each choice ("one-hot").
  std::size_t width() const { return places_.empty() ? size_ : 1; }
  /// Writes the coordinates of the value with this number. Quantities go from 0 to 1; two choices are 1
  /// apart.
  void place(std::size_t value, Eigen::Ref<Eigen::VectorXd> coordinates) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> places_;  // of quantities
};

/// The number of one value in each dimension.
using Point = std::vector<std::size_t>;

/// A value. Invariant: every dimension has at least one value, so the space has at least one point.
class Space {
 public:
  explicit Space(std::vector<Dimension> dimensions);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// The number of points, at most 2^63 - 1.
  std::size_t size() const;
  /// The point with this number, where the last dimension varies fastest. Needs a size below 2^63 - 1.
  Point point(std::size_t index) const;
  Point random(Random& random) const;

  Eigen::VectorXd coordinates(const Point& point) const;
  /// For each coordinate, the dimension that it belongs to.
  const std::vector<std::size_t>& owners() const { return owners_; }

  /// The finest even grid of at most `most` points; all points if there are no more. Dimensions get values in
  /// turn. A dimension with two or more has its first and its last value.
  std::vector<Point> grid(std::size_t most) const;

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::size_t> owners_;
};

}  // namespace weir::tune
