// One unknown in a fit of runs.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/calibrate/prediction.h"
#include "core/cluster/topology.h"

namespace weir {

/// One value, or several that are fitted as one. The unknown x is the logarithm of value over start.
struct RunParameter {
  enum class Unit { kRate, kTime, kFraction };
  static constexpr double kLargestFactor = 1.5;  // of a rate, as a logarithm

  std::vector<std::string> paths;
  Unit unit = Unit::kRate;
  std::vector<Value> start;  // for rates, by path
  double at = 0.0;           // for others: seconds, or a fraction
  double stated = 0.0;       // for times: the stated value, in seconds
  double x = 0.0;

  /// The group of a path: "groups.gpu", or the path itself if it is of no group. And those of all paths.
  static std::string group(const std::string& path);
  std::set<std::string> groups() const;
  /// Moves this group's paths into a new parameter, and returns it. For rates only.
  RunParameter separate(const std::string& group);

  double now() const { return at * std::exp(x); }
  /// The present value of one of the paths.
  Value value(std::size_t path) const;
  /// The limits of x.
  double least() const;
  double most() const;
  /// The standard deviation of x in the prior.
  double prior() const;
  /// The step for a numeric slope: in seconds for a time, in x for all else. And x after that step.
  double step() const;
  double stepped() const;
};

/// The paths among `used` that runs can determine. Rates of one kind that are equal, such as those of all
/// NICs, are one parameter. A parameter starts at the value that benchmarks determined (`known`), else at
/// that of the topology or of the runs' experiments (`stated`).
std::vector<RunParameter> run_parameters(const Topology& topology, const std::set<std::string>& used,
                                         const Values& stated, const Values& known);

}  // namespace weir
