// One run of an experiment: one strategy at one point with one seed, from plan to row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/experiment/experiment.h"
#include "core/simulate/simulation.h"
#include "studies/run/row.h"

namespace weir {

/// How a trial ended.
struct Outcome {
  enum class Kind {
    kRow,         // it ran
    kImpossible,  // the strategy has no plan for this cluster, such as a parameter server without CPU
                  // machines
    kFailed,      // the plan is wrong, or the run failed
  };
  Kind kind = Kind::kFailed;
  Row row;
  std::string text;  // why there is no row
};

/// An outcome as text, to pass between processes.
std::string text(const Outcome& outcome);
Outcome outcome_from(const std::string& text);

struct Trial {
  std::string strategy;
  std::uint64_t seed = 1;
  std::string timeline;    // the file to draw the run in; empty for none
  std::string record;      // the file to keep its record in; empty for none
  std::string prediction;  // likewise for the prediction that real runs may have
  std::string point;       // the values of the sweep, for these files
};

/// A plan, its inputs, and how to run it.
struct Planned {
  const Experiment& experiment;
  const std::string& contender;
  const Plan& plan;
  const Cluster& cluster;  // the plan's machines
  SimulationSettings settings;
  /// For simulations: the whole cluster, and all jobs on it, beginning with the plan's.
  const Cluster& whole;
  std::vector<Job> jobs;
};

/// What a run produces.
struct RunOutput {
  Record record;
  /// When the iterations of each other job ended.
  std::vector<std::vector<Instant>> ends_of_others = {};
  /// For real runs: what plain connections moved over a NIC just before, and the topology with measured
  /// rates, by which the run is judged.
  std::optional<BytesPerSecond> link_rate;
  std::optional<Topology> measured;
  /// The topology with the fastest rates that were measured, before or after the run. Bounds use it: a run
  /// may be faster than rates that were measured while the host was busier.
  std::optional<Topology> fastest;
  std::optional<double> rate_difference;  // between the links' rates of both, as a fraction of the lower
  /// The topology for the prediction: the measured one, but as slow as the run was deliberately paced.
  std::optional<Topology> paced;
  bool over_links = true;               // whether messages moved through links of the topology
  std::optional<std::int64_t> checked;  // elements whose sums were checked; none if no check was asked for
  /// The world's settings as they took effect; empty if as the world says.
  std::string settings;
};

/// Where plans run. A value.
struct World {
  std::string name;      // for people: "SimGrid"
  std::string settings;  // that its results depend on
  std::function<Result<RunOutput>(const Planned& planned)> run;
  /// For real worlds: the simulated world that predicts their runs, if this program has one.
  std::shared_ptr<const World> predictor;
  bool simulated = true;
  /// Checks that the world can hold the cluster, before anything is planned; may be empty.
  std::function<Result<void>(const Cluster& cluster, const Workload& workload)> check;
};

/// Plans, proves (if the experiment says so), runs, reports, and compares with the bounds.
Outcome run(const Trial& trial, const Experiment& experiment, const World& world);

/// The function's outcome, or a failure if memory ran out or SimGrid threw an exception.
Outcome guarded(const std::function<Outcome()>& function);

}  // namespace weir
