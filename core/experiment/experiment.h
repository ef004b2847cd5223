// What a user asks: which strategies, on which cluster, for which model, with which options, and what to
// vary.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/document/document.h"
#include "core/experiment/other_job.h"
#include "core/experiment/published.h"
#include "core/hardware/model.h"
#include "core/simulate/conditions.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace.h"

namespace weir {

/// Which runs of a strategy are drawn.
enum class TimelinePoints {
  kLast,  // the last point of the sweep, with the first seed
  kAll,   // every point and seed
};

/// A strategy with options of its own, compared under a name of its own.
struct Variant {
  std::string strategy;
  Options options;
  Value given;  // as the file states it
};

/// One point of an experiment, in which only strategy and seed still vary. A value.
struct Experiment {
  std::string question;
  Topology topology;
  std::vector<std::string> machines = {"*"};  // the topology's machines that train: names, as in conditions
  Trace trace;
  std::vector<std::string> strategies = {"all"};           // once read, names of strategies or variants,
                                                           // each once
  std::map<std::string, Variant> variants;                 // by name; no name is a strategy's
  std::string baseline = std::string(default_baseline());  // speed-ups are relative to this strategy; once
                                                           // read, it is one of `strategies`
  Options options;
  Model model;
  Conditions conditions;
  std::vector<OtherJob> other_jobs;  // on the same network
  int iterations = 1;                // the measured ones
  int warm_up = 1;                   // run before them, so that iterations overlap as in long training
  std::vector<std::uint64_t> seeds = {1};
  std::vector<std::string> timelines;  // strategies whose runs are drawn as timelines
  TimelinePoints timeline_points = TimelinePoints::kLast;
  bool prove = true;  // whether each plan is proved before it runs
  std::optional<Published> published;

  /// Whether the job has the whole topology to itself.
  bool alone() const { return machines == std::vector<std::string>{"*"} && other_jobs.empty(); }
};

/// The machines that train, as a part of the whole topology's cluster.
Subcluster subcluster_of(const Experiment& experiment, const Cluster& whole);
/// The same as a cluster of their own.
Cluster cluster_of(const Experiment& experiment);

/// What runs under a name of the experiment: a strategy and its options.
struct Contender {
  const Strategy* strategy;
  Options options;
};

/// The variant of this name, or the strategy with the experiment's options. The error lists the names.
Result<Contender> contender(const Experiment& experiment, const std::string& name);

}  // namespace weir
