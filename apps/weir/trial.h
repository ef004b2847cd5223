// One run of an experiment: one strategy at one point with one seed, from plan to row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/weir/row.h"
#include "core/base/result.h"
#include "core/experiment/experiment.h"
#include "core/fluid/simulation.h"

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
  std::string timeline;  // the file to draw the run in; empty for none
};

/// A world: runs a plan on a cluster.
using World = Result<Record> (*)(const Plan& plan, const Cluster& cluster,
                                 const SimulationSettings& settings);

/// Plans, proves if the experiment says so, runs, reports, and compares with what cannot be beaten.
Outcome run(const Trial& trial, const Experiment& experiment, World world);

/// What the function leaves, or that it failed if memory ran out or SimGrid threw.
Outcome guarded(const std::function<Outcome()>& function);

}  // namespace weir
