// The times of one kind of measurement as a line over their sizes, and which values of a topology the line
// gives. Errors are those of the values that are written, not those of the line that fits best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/misses.h"
#include "core/calibrate/point.h"
#include "core/calibrate/prediction.h"

namespace weir {

/// A value of the topology that a line determines, and how. A value.
struct LinePart {
  enum class Role {
    kRate,   // a byte takes factor / rate
    kTime,   // the overhead is factor x time
    kShare,  // the rate is value x the rates of all NICs
  };
  struct Nics {
    std::string path;  // of their rate
    double rate = 0;   // if no value is given: bytes per second
    int count = 1;
  };
  Role role = Role::kRate;
  std::string path;
  double factor = 1;
  std::vector<Nics> nics;  // of kShare
};

/// A value.
struct PointLine {
  std::vector<Point> own;  // the points that it fits
  double overhead_s = 0;
  double s_per_byte = 0;
  std::optional<double> overhead_error_percent;  // none if the overhead is 0
  double rate_error_percent = 0;
  bool below_zero = false;  // the points fit best with an overhead below 0, so 0 was taken
  bool judged = false;      // it has more points than unknowns, so it can miss some
  Bytes least;
  Bytes most;
  std::vector<std::string> sources;
  std::vector<LinePart> parts;

  static PointLine fit(std::vector<Point> points, bool with_overhead);

  /// The first point, which stands for its kind.
  const Point& of() const { return own.front(); }
  /// The prediction for a point of this line with these values, by path. None if they have none of its rates.
  /// An overhead that is no value of the topology counts as fitted.
  std::optional<Predicted> predicted(const Point& point, const Values& values) const;
  /// The median error at its own points with these values, in per cent.
  double residual_percent(const Values& values) const;
};

/// The rate of all NICs of a machine together, in bytes per second, with these values.
double rate_of(const std::vector<LinePart::Nics>& nics, const Values& values);

}  // namespace weir
