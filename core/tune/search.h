// A search for the point of least value, as a state machine: it says which points to try, and is told what
// came out. It knows neither what points mean nor who tries them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tune/gaussian_process.h"
#include "core/tune/space.h"

namespace weir::tune {

enum class Method {
  kBayes,   // where a Gaussian process of the values so far expects most improvement
  kGrid,    // evenly spread over the space, in its order
  kRandom,  // anywhere, each point once
};

struct SearchSettings {
  Method method = Method::kBayes;
  std::size_t trials = 25;  // at most
  std::uint64_t seed = 1;
  bool noisy = false;          // the same point may come out differently, and may be tried again
  std::optional<Point> first;  // is tried first, but by grids
};

/// What came of a point.
struct Attempt {
  Point point;
  std::optional<double> value;  // above 0; none if the point is not possible
};

/// A value. The same settings and the same values lead to the same points.
class Search {
 public:
  Search(Space space, SearchSettings settings);

  const Space& space() const { return space_; }

  /// What to try now, in any order or at once; nothing once the search is over. Each is to be told before
  /// this is asked again.
  std::vector<Point> next();
  void tell(const Point& point, std::optional<double> value);

  const std::vector<Attempt>& attempts() const { return attempts_; }
  /// The attempt at the best point: that of least value, or in noisy worlds of the least that is to be
  /// expected of a point that was tried. None if no point was possible.
  std::optional<std::size_t> best() const;

 private:
  bool tried(const Point& point) const;
  std::size_t left() const { return settings_.trials - attempts_.size(); }
  std::vector<Point> beginning();
  std::vector<Point> scattered(std::size_t count, const std::vector<Point>& from);
  double nearest_two(const std::vector<Point>& points, const std::vector<Point>& others) const;
  std::optional<Point> most_promising();
  std::vector<Point> candidates();
  std::optional<Point> untried();

  Space space_;
  SearchSettings settings_;
  Random random_;
  bool begun_ = false;
  std::vector<Attempt> attempts_;
};

}  // namespace weir::tune
