// Checks that every simulated run obeyed physics: no link carried more than its rate times the time it was in
// use, no flow was faster than its slowest link, and every byte of the plans moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/simulate/engines/engine.h"

namespace weir {

/// Follows the flows of all jobs of one run. Times are the engine's seconds and ids the engine's ids. The
/// cluster outlives it.
class Physics {
 public:
  /// The links' rates as the engine has them, in bytes per second by id, and the engine's precision.
  Physics(const Cluster& cluster, const std::vector<double>& rates, double precision = 0.0);

  void flow_started(std::uint32_t id, PathView path, double now);
  void flow_ended(std::uint32_t id, PathView path, Bytes bytes, double now);
  /// Prefetches what the end of the flow will read.
  void prefetch(std::uint32_t id) const {
    if (id < started_.size()) __builtin_prefetch(&started_[id]);
  }
  /// The link has this fraction of its rate from now on.
  void link_scaled(LinkId link, double factor, double now);

  /// The first violation, if any, at the end of the run. Some flows may still be under way.
  Result<void> verdict(double now) const;

 private:
  struct alignas(64) Use {
    double rate = 0.0;
    int flows = 0;        // under way
    double factor = 1.0;  // of its rate
    double since = 0.0;   // start of the current period of use with this factor
    double busy = 0.0;    // seconds in earlier periods, times their factors
    double bytes = 0.0;   // carried by flows that have ended
    double left = 0.0;    // the part of these that may not have been carried
    double ends = 0.0;    // number of flows that have ended
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

  /// Checks that the bytes are what the plan puts on each link (link_loads), for at least `least` and at most
  /// `most` iterations.
  Result<void> verdict(const std::vector<Bytes>& planned, double least, double most,
                       const Cluster& cluster) const;

 private:
  const Paths* paths_;
  std::vector<double> bytes_;  // by path
};

}  // namespace weir
