// Turns points into values of a topology. For each kind of measurement it fits a line, time over size,
// robustly, and derives values from the line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/point.h"
#include "core/calibrate/point_line.h"
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
  /// For the user: measurements that have no place in the topology, and values that are not written, or are
  /// written although the points fit best with others.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Whether this fitted point could have been missed: its line has more points than unknowns.
  bool judged(const Point& point) const;
  /// Predictions for points, fitted or not, with these values by path, which are to be written. Points of
  /// which no value is written get none.
  std::vector<Predicted> predict(const std::vector<Point>& points, const Values& values) const;
  /// The median error, in per cent, of these values at the points that gave the value of this path. None if
  /// the line meets all points, or if there is no such value.
  std::optional<double> residual_percent(const std::string& path, const Values& values) const;

 private:
  Result<void> take(const Topology& topology, PointLine& line);
  Result<void> take_sum(const Topology& topology, PointLine& line);
  Result<void> take_copy(const Topology& topology, PointLine& line);
  Result<void> take_message(const Topology& topology, PointLine& line);
  Result<void> take_collective(const Topology& topology, PointLine& line);
  Result<void> take_exchange(const Topology& topology, PointLine& line);
  Result<void> take_efficiency(const Topology& topology, PointLine& line);
  std::optional<double> efficiency_of(const PointLine& line, double all, const std::string& group);
  /// Adds the value to the line's parts. Null if another line already gives this value, from as many points
  /// or more.
  CalibratedValue* add(PointLine& line, const LinePart& part, const Value& value);
  /// Adds a rate, which is `factor` over the line's time of a byte, or a time, the overhead over `factor`.
  CalibratedValue* add_rate(PointLine& line, const std::string& path, double factor);
  CalibratedValue* add_time(PointLine& line, const std::string& path, double factor);
  void remark_conflicts(const Values& written);
  Values written() const;

  std::vector<PointLine> lines_;
  std::vector<CalibratedValue> values_;
  std::map<std::string, std::size_t> givers_;  // by path: the line that gives the value
  std::vector<std::string> remarks_;
};

}  // namespace weir
