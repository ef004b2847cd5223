// What is searched: every combination of a value for each of several parameters. A search knows values by
// their places alone, and how near two of them are by their coordinates.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "core/base/random.h"

namespace weir::tune {

/// One parameter. A value.
class Dimension {
 public:
  /// Quantities, ascending: near if their ratio is near to 1, or, where one of them is not above 0, their
  /// difference to 0.
  static Dimension quantities(const std::vector<double>& ascending);
  /// As many choices as this, each as far from every other.
  static Dimension choices(std::size_t count);

  std::size_t size() const { return size_; }
  /// How many coordinates it takes: one for quantities, one a choice ("one-hot").
  std::size_t width() const { return places_.empty() ? size_ : 1; }
  /// Writes the coordinates of the value with this number: from 0 to 1, and two choices are 1 apart.
  void place(std::size_t value, Eigen::Ref<Eigen::VectorXd> coordinates) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> places_;  // of quantities
};

/// The number of a value for each dimension.
using Point = std::vector<std::size_t>;

/// A value. Invariant: every dimension has a value, and so the space a point.
class Space {
 public:
  explicit Space(std::vector<Dimension> dimensions);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// How many points there are; 2^63 - 1 if they are more than that.
  std::size_t size() const;
  /// The points in order, the last dimension varying fastest. There are fewer than 2^63 - 1.
  Point point(std::size_t index) const;
  Point random(Random& random) const;

  Eigen::VectorXd coordinates(const Point& point) const;
  /// By coordinate: of which dimension it is.
  const std::vector<std::size_t>& owners() const { return owners_; }

  /// An even grid of at most so many points, the finest there is: all points if they are no more. Dimensions
  /// get values in turn; each has its first and its last value as soon as it has two.
  std::vector<Point> grid(std::size_t most) const;

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::size_t> owners_;
};

}  // namespace weir::tune
