// What a topology's calibration says: which of its values were fitted on measurements, on which, and how far
// those reached. `weir calibrate` writes it; core/calibrate/label.h reads it, to say how much a result that
// uses these values can be trusted.
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

/// One value that was fitted. It speaks of this value alone: where the topology (or the experiment, of its
/// model) has another one, that one is not calibrated.
struct CalibratedValue {
  std::string
      path;     // in the topology, "groups.gpu.nics.0.rate"; or in an experiment, "model.message_overhead"
  Value value;  // as the file writes it
  std::string was;                   // before; empty if nothing stood there
  std::vector<std::string> sources;  // the files of its measurements
  int points = 0;                    // of these
  Bytes least_size;                  // of one message, copy or sum that was measured, or of what one
                                     // GPU passed to the next at once in a collective
  Bytes most_size;
  std::optional<int> machines;  // the most that took part in a measurement; none if it is of one machine
  std::optional<int> racks;     // likewise; none without racks
  // None where there were no more points than the fit has unknowns: it meets them, whatever they are.
  std::optional<double> standard_error_percent;  // of the value
  std::optional<double> residual_percent;        // by how much the points miss the fit: the middle one
  /// Whether it may not as well be anything from nothing to twice itself.
  bool determined() const { return standard_error_percent.value_or(0) <= 100; }
  friend bool operator==(const CalibratedValue&, const CalibratedValue&) = default;
};

struct Calibration {
  std::string weir;  // the version that fitted
  /// What the machines were made of, by group, and how racks are laid out ("network"): a hash of all that is
  /// neither fitted nor a number of machines. A group of another shape is another kind of machine.
  std::map<std::string, std::string> shapes;
  std::vector<CalibratedValue> values;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// As Calibration::shapes has them.
std::string shape(const GroupSpec& group);
std::string shape(const NetworkSpec& network);

/// The value at a path such as "groups.gpu.nics.0.rate", as topology files write it; none if there is none.
/// `written` is what write_topology() gives, parsed.
const Value* value_at(const Value& written, std::string_view path);

/// Every value of the topology, in the form that value_at() reads.
Value written_values(const Topology& topology);

/// The topology with another value at the path. Fails if there is no such path or no such value may stand
/// there. A rate of sums for one type of elements stands beside what holds for all others.
Result<Topology> with_value(const Topology& topology, const std::string& path, const Value& value);

/// Paths of values that an experiment has, not a topology: a calibrated topology gives them to experiments
/// that say nothing of them.
constexpr std::string_view kMessageOverhead = "model.message_overhead";
constexpr std::string_view kAllreduceEfficiency = "allreduce_efficiency";
constexpr bool of_experiment(std::string_view path) {
  return path == kMessageOverhead || path == kAllreduceEfficiency;
}

}  // namespace weir
