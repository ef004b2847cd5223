// Checks in every simulated run that its world obeyed physics: no link carried more than its rate times the
// time it was in use, no flow was faster than its slowest link, and every byte of the plans moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/simulate/engines/engine.h"

namespace weir {

/// Follows the flows of one run, of all jobs together. Times are the engine's seconds, ids the engine's. The
/// cluster outlives it.
class Physics {
 public:
  /// The links' rates in bytes per second, by id, as the engine has them, and its precision.
  Physics(const Cluster& cluster, const std::vector<double>& rates, double precision = 0.0);

  void flow_started(std::uint32_t id, PathView path, double now);
  void flow_ended(std::uint32_t id, PathView path, Bytes bytes, double now);
  /// Has the processor fetch what it will take to end the flow.
  void prefetch(std::uint32_t id) const {
    if (id < started_.size()) __builtin_prefetch(&started_[id]);
  }
  /// The link has this fraction of its rate from now on.
  void link_scaled(LinkId link, double factor, double now);

  /// All holds, now that the run is over; or the first violation. Some flows may still be under way.
  Result<void> verdict(double now) const;

 private:
  struct alignas(64) Use {
    double rate = 0.0;
    int flows = 0;        // under way
    double factor = 1.0;  // of its rate
    double since = 0.0;   // start of the present spell of use with this factor
    double busy = 0.0;    // seconds in earlier spells, times their factors
    double bytes = 0.0;   // carried by flows that have ended
    double left = 0.0;    // of these, what may not have been carried
    double ends = 0.0;    // how many have
  };
  const Cluster* cluster_;
  double tolerance_;
  std::vector<Use> uses_;        // by link
  std::vector<double> started_;  // by flow's id
  std::string violation_;        // the first flow that was too fast
};

/// Counts the bytes that the flows of one plan carry over each link.
class Carried {
 public:
  /// The paths outlive it.
  explicit Carried(const Paths& paths) : paths_(&paths), bytes_(paths.size(), 0.0) {}

  void add(int path, Bytes bytes) {
    bytes_[static_cast<std::size_t>(path)] += static_cast<double>(bytes.count());
  }

  /// Whether that is what the plan loads links with (link_loads) in `least` iterations at least, and `most`
  /// at most.
  Result<void> verdict(const std::vector<Bytes>& planned, double least, double most,
                       const Cluster& cluster) const;

 private:
  const Paths* paths_;
  std::vector<double> bytes_;  // by path
};

}  // namespace weir
