// A value that runs may tell, as fits of runs look for it.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/calibrate/prediction.h"
#include "core/cluster/topology.h"

namespace weir {

/// One value, or several that are fitted as one, as the logarithm of how many times its start it is.
struct RunParameter {
  enum class Unit { kRate, kTime, kFraction };
  static constexpr double kLargestFactor = 1.5;  // of a rate, as a logarithm

  std::vector<std::string> paths;
  Unit unit = Unit::kRate;
  std::vector<Value> start;  // of rates, by path
  double at = 0.0;           // of others: seconds, or a fraction
  double stated = 0.0;       // of times: what stood there, in seconds
  double x = 0.0;

  /// What stands before a path's values: "groups.gpu", of others the path itself. And of all paths.
  static std::string group(const std::string& path);
  std::set<std::string> groups() const;
  /// The group's paths by themselves, which this has no longer. Of a rate.
  RunParameter separate(const std::string& group);

  double now() const { return at * std::exp(x); }
  /// What stands at one of the paths now.
  Value value(std::size_t path) const;
  /// The most that x may be.
  double most() const;
  /// The standard deviation of x as believed beforehand.
  double prior() const;
  /// What a slope is taken over: of a time seconds, of all else a part of x. And x after that.
  double step() const;
  double stepped() const;
};

/// Of the paths that runs use, those that they may tell. Rates that are equal and of the same kind, as those
/// of all NICs, are one. They start at what benchmarks told (`known`), else at what the topology, or the
/// runs' experiments (`stated`), say.
std::vector<RunParameter> run_parameters(const Topology& topology, const std::set<std::string>& used,
                                         const Values& stated, const Values& known);

}  // namespace weir
