// What a user asks: which strategies, on which cluster, for which model, under which options, and what to
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
  kLast,  // that of the last point of the sweep, with the first seed
  kAll,   // every one
};

/// A strategy under options of its own, beside the others of its experiment.
struct Variant {
  std::string strategy;
  Options options;
  Value given;  // as the file has it
};

/// One point of an experiment, with nothing left to vary but strategy and seed. A value.
struct Experiment {
  std::string question;
  Topology topology;
  std::vector<std::string> machines = {"*"};  // of the topology, that train: names, as conditions have them
  Trace trace;
  std::vector<std::string> strategies = {"all"};  // once read, every name is a strategy's or a variant's, and
                                                  // occurs once
  std::map<std::string, Variant> variants;        // by name, which is no strategy's
  std::string baseline = std::string(default_baseline());  // speed-ups are over this strategy's iteration;
                                                           // once read, it is one of the strategies
  Options options;
  Model model;
  Conditions conditions;
  std::vector<OtherJob> other_jobs;  // beside it
  int iterations = 1;                // measured
  int warm_up = 1;                   // run before those, so that iterations overlap as in a long training
  std::vector<std::uint64_t> seeds = {1};
  std::vector<std::string> timelines;  // strategies whose runs are drawn
  TimelinePoints timeline_points = TimelinePoints::kLast;
  bool prove = true;  // each plan, before it runs
  std::optional<Published> published;

  /// It has the whole topology to itself.
  bool alone() const { return machines == std::vector<std::string>{"*"} && other_jobs.empty(); }
};

/// The machines that train, of the whole topology's cluster.
Subcluster subcluster_of(const Experiment& experiment, const Cluster& whole);
/// The same as a cluster of their own.
Cluster cluster_of(const Experiment& experiment);

/// What runs under a name of the experiment: a strategy, and the options that it then has.
struct Contender {
  const Strategy* strategy;
  Options options;
};

/// The variant of that name, or the strategy under the experiment's options; the error lists the names.
Result<Contender> contender(const Experiment& experiment, const std::string& name);

}  // namespace weir
