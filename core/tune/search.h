// A search for the point with the smallest value, as a state machine: it proposes points to try and receives
// their values. It knows neither what points mean nor who tries them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tune/gaussian_process.h"
#include "core/tune/space.h"

namespace weir::tune {

enum class Method {
  kBayes,   // where a Gaussian process, fitted to the values so far, expects the most improvement
  kGrid,    // evenly spread over the space, in its order
  kRandom,  // random points, each at most once
};

struct SearchSettings {
  Method method = Method::kBayes;
  std::size_t trials = 25;  // at most
  std::uint64_t seed = 1;
  bool noisy = false;          // a point may have a different value each time, and may be tried again
  std::optional<Point> first;  // is tried first; grids ignore it
};

/// A point that was tried, and its value.
struct Attempt {
  Point point;
  std::optional<double> value;  // above 0; none if the point is not possible
};

/// A value. The same settings and the same values lead to the same points.
class Search {
 public:
  Search(Space space, SearchSettings settings);

  const Space& space() const { return space_; }

  /// The points to try now, in any order or in parallel; none once the search is over. Call add_attempt() for
  /// each of them before the next call.
  std::vector<Point> next();
  void add_attempt(const Point& point, std::optional<double> value);

  const std::vector<Attempt>& attempts() const { return attempts_; }
  /// The attempt at the best point: the one with the smallest value, or, if values are noisy, with the
  /// smallest predicted value among those tried. None if no point was possible.
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
