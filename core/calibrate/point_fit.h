// Turns points into values of a topology. For each kind of measurement it fits a line, time over size,
// robustly, and derives values from the line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/point.h"
#include "core/cluster/topology.h"

namespace weir {

/// Whether both are on one line: they differ at most in size, time and source.
bool same_line(const Point& a, const Point& b);

/// The result of fitting points. A value.
class PointFit {
 public:
  /// Fits the points, which are all of this topology. Fails if the topology lacks what a point measured; the
  /// error names the file and the missing part.
  static Result<PointFit> fit(const Topology& topology, const std::vector<Point>& points);

  /// The fitted values, by path.
  const std::vector<CalibratedValue>& values() const { return values_; }
  /// For the user: measurements that have no place in the topology.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Whether this fitted point could have been missed: its line has more points than unknowns.
  bool judged(const Point& point) const;
  /// Predictions for points, fitted or not. Points on no fitted line get none.
  std::vector<Predicted> predict(const std::vector<Point>& points) const;

 private:
  struct Line {
    Point of;  // its first point, which stands for its kind
    double overhead_s = 0;
    double s_per_byte = 0;
    std::optional<double> overhead_error_percent;  // none if the overhead is 0
    double rate_error_percent = 0;
    double residual_percent = 0;
    int points = 0;
    bool judged = false;  // it has more points than unknowns, so it can miss some
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
  /// Null if another line already gives this value, from as many points or more.
  CalibratedValue* add(const Line& line, const std::string& path, const Value& value,
                       std::optional<double> error_percent);

  std::vector<Line> lines_;
  std::vector<CalibratedValue> values_;
  std::vector<std::string> remarks_;
};

}  // namespace weir
