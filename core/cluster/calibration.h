// The calibration of a topology: which of its values were fitted to measurements, to which measurements, and
// what range they covered. `weir calibrate` writes it. core/calibrate/label.h reads it to say how far a
// result that uses these values can be trusted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/document/document.h"

namespace weir {

struct GroupSpec;
struct NetworkSpec;
struct Topology;

/// One fitted value. If the topology (or the model of the experiment) now has a different value at this path,
/// that value is not calibrated.
struct CalibratedValue {
  std::string
      path;     // in the topology, "groups.gpu.nics.0.rate"; or in an experiment, "model.message_overhead"
  Value value;  // as the file writes it
  std::string was;                   // the value before the fit; empty if there was none
  std::vector<std::string> sources;  // the files with the measurements
  int points = 0;                    // number of measurements
  Bytes least_size;                  // smallest measured message, copy or sum; in a collective:
                                     // what one GPU passed to the next at once
  Bytes most_size;
  std::optional<int>
      machines;              // the most that took part in a measurement; none if the value is of one machine
  std::optional<int> racks;  // likewise; none without racks
  // None if there were no more points than unknowns: such a fit always meets its points exactly.
  std::optional<double> standard_error_percent;  // of the value
  std::optional<double> residual_percent;        // the median error of the fit at its points
  /// Whether the measurements determine the value: its standard error is not larger than the value itself.
  bool determined() const { return standard_error_percent.value_or(0) <= 100; }
  friend bool operator==(const CalibratedValue&, const CalibratedValue&) = default;
};

struct Calibration {
  std::string weir;  // the version of Weir that made the fit
  /// A hash of the structure of each group's machines, and of the racks ("network"). It leaves out fitted
  /// values and the number of machines. A group with another hash has another kind of machine.
  std::map<std::string, std::string> shapes;
  std::vector<CalibratedValue> values;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// The hashes that Calibration::shapes holds.
std::string shape(const GroupSpec& group);
std::string shape(const NetworkSpec& network);

/// The value at a path such as "groups.gpu.nics.0.rate", as topology files write it; null if there is none.
/// `written` is the parsed output of write_topology().
const Value* value_at(const Value& written, std::string_view path);

/// Every value of the topology, in the form that value_at() reads.
Value written_values(const Topology& topology);

/// The topology with another value at the path. Fails if the path does not exist or does not accept the
/// value. A sum rate set for one element type leaves the rate of all other types as it was.
Result<Topology> with_value(const Topology& topology, const std::string& path, const Value& value);

/// Paths of values that belong to an experiment, not to a topology. Experiments that do not set them get them
/// from a calibrated topology.
constexpr std::string_view kMessageOverhead = "model.message_overhead";
constexpr std::string_view kAllreduceEfficiency = "allreduce_efficiency";
constexpr bool of_experiment(std::string_view path) {
  return path == kMessageOverhead || path == kAllreduceEfficiency;
}

}  // namespace weir
