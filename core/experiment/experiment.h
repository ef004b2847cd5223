// What a user asks: which strategies, on which cluster, for which model, under which options, and what to
// vary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/fluid/model.h"
#include "core/strategies/options.h"
#include "core/workload/trace.h"

namespace weir {

/// Which runs of a strategy are drawn.
enum class TimelinePoints {
  kLast,  // that of the last point of the sweep, with the first seed
  kAll,   // every one
};

/// One point of an experiment, with nothing left to vary but strategy and seed. A value.
struct Experiment {
  std::string question;
  Topology topology;
  Trace trace;
  std::vector<std::string> strategies = {"all"};  // once read, every name is a strategy's, and occurs once
  std::string baseline = "ring";                  // speed-ups are over this strategy's iteration; once read,
                                                  // it is one of the strategies
  Options options;
  Model model;
  int iterations = 1;  // measured
  int warm_up = 1;     // run before those, so that iterations overlap as in a long training
  std::vector<std::uint64_t> seeds = {1};
  std::vector<std::string> timelines;  // strategies whose runs are drawn
  TimelinePoints timeline_points = TimelinePoints::kLast;
  bool prove = true;  // each plan, before it runs
};

}  // namespace weir
