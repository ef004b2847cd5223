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
    kImpossible,  // the strategy has no plan for this cluster, as a parameter server without CPU machines
    kFailed,      // the plan is wrong, or the run
  };
  Kind kind = Kind::kFailed;
  Row row;
  std::string text;  // why there is no row
};

/// An outcome as text, from one process to another.
std::string text(const Outcome& outcome);
Outcome outcome_from(const std::string& text);

struct Trial {
  std::string strategy;
  std::uint64_t seed = 1;
  std::string timeline;    // the file to draw the run in; empty for none
  std::string record;      // the file to keep its record in; empty for none
  std::string prediction;  // the same of its prediction, which real runs may have
  std::string point;       // the values of the sweep, for these
};

/// A plan, what it was made from, and how it is to be run.
struct Planned {
  const Experiment& experiment;
  const std::string& contender;
  const Plan& plan;
  const Cluster& cluster;  // the machines that it is for
  SimulationSettings settings;
  /// Of a simulation: the whole cluster, and all jobs on it, the plan's first.
  const Cluster& whole;
  std::vector<Job> jobs;
};

/// What a run leaves.
struct Lived {
  Record record;
  /// Of the jobs beside it: when each of their iterations ended.
  std::vector<std::vector<Instant>> ends_of_others = {};
  /// Of a real run: what plain connections moved over a NIC just before it, and the topology with the rates
  /// that were measured, by which it is judged.
  std::optional<BytesPerSecond> link_rate;
  std::optional<Topology> measured;
  /// By which it is foretold: the same, but as slow as the run was held back on purpose.
  std::optional<Topology> paced;
  bool over_links = true;               // whether messages moved through links as the topology has them
  std::optional<std::int64_t> checked;  // elements whose sums were; none if none were to be
  /// The world's settings as they came out here; empty if as the world says.
  std::string settings;
};

/// Where plans run. A value.
struct World {
  std::string name;      // for people: "SimGrid"
  std::string settings;  // that its results depend on
  std::function<Result<Lived>(const Planned& planned)> run;
  /// Of a real world: the simulated one that foretells its runs, if this program has one.
  std::shared_ptr<const World> foretells;
  bool simulated = true;
  /// Whether it can hold the cluster, asked before anything is planned; may be none.
  std::function<Result<void>(const Cluster& cluster, const Workload& workload)> check;
};

/// Plans, proves if the experiment says so, runs, reports, and compares with what cannot be beaten.
Outcome run(const Trial& trial, const Experiment& experiment, const World& world);

/// What the function leaves, or that it failed if memory ran out or SimGrid threw.
Outcome guarded(const std::function<Outcome()>& function);

}  // namespace weir
