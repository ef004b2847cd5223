// Values of a topology from points: for each kind of thing that was measured a line of time over size, fitted
// robustly, and what it says of the values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/point.h"
#include "core/cluster/topology.h"

namespace weir {

/// Whether both are of one line: they differ in sizes, times and sources at most.
bool same_line(const Point& a, const Point& b);

/// What points came to. A value.
class PointFit {
 public:
  /// Fits the points, which are all of this topology. Fails if one is of something that the topology has not:
  /// says which file, and what is there.
  static Result<PointFit> fit(const Topology& topology, const std::vector<Point>& points);

  /// The values, by path; what nothing was measured of is not among them.
  const std::vector<CalibratedValue>& values() const { return values_; }
  /// What a user should know: what was measured and has no place in the topology.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Whether the fit could have missed the point, which was fitted.
  bool judged(const Point& point) const;
  /// What the fit says of points, whether they were fitted or not; of some it may say nothing.
  std::vector<Predicted> predict(const std::vector<Point>& points) const;

 private:
  struct Line {
    Point of;  // the first of its points, for its kind
    double overhead_s = 0;
    double s_per_byte = 0;
    std::optional<double> overhead_error_percent;  // none of an overhead of 0
    double rate_error_percent = 0;
    double residual_percent = 0;
    int points = 0;
    bool judged = false;  // there are more points than unknowns, so that some may miss it
    Bytes least;
    Bytes most;
    std::vector<std::string> sources;
  };

  static Line line(const std::vector<Point>& points, bool with_overhead);
  Result<void> take(const Topology& topology, const Line& line);
  Result<void> take_sum(const Topology& topology, const Line& line);
  Result<void> take_copy(const Topology& topology, const Line& line);
  Result<void> take_message(const Topology& topology, const Line& line);
  Result<void> take_collective(const Topology& topology, const Line& line);
  Result<void> take_exchange(const Topology& topology, const Line& line);
  Result<void> take_efficiency(const Topology& topology, const Line& line);
  /// None if another line of the same value tells it.
  CalibratedValue* add(const Line& line, const std::string& path, const Value& value,
                       std::optional<double> error_percent);

  std::vector<Line> lines_;
  std::vector<CalibratedValue> values_;
  std::vector<std::string> remarks_;
};

}  // namespace weir
