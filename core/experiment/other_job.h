// Another training job on the cluster of an experiment: it runs on machines of its own beside the one under
// study, and shares the network with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/subcluster.h"
#include "core/simulate/conditions.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace.h"

namespace weir {

struct OtherJob {
  std::string name;
  Trace trace;
  std::string strategy;  // once read, one's name
  Options options;
  std::vector<std::string> machines;  // names, in which '*' stands for any text
  Duration start;                     // when its first iteration begins
};

/// Names of machines that jobs cannot have, each with its path, such as "other_jobs[0].machines": of nothing,
/// none with a GPU, or one with a GPU that another job has. `machines` are those of the job under study.
std::vector<std::pair<std::string, std::string>> faults(const std::vector<std::string>& machines,
                                                        const std::vector<OtherJob>& others,
                                                        const Cluster& cluster);

/// Stops for good, each with its path, such as "stops[0].machines", of a machine that is none of `machines`:
/// such a failure ends the run, and there is no saying what it would do to a job that goes on.
std::vector<std::pair<std::string, std::string>> failures_elsewhere(const Conditions& conditions,
                                                                    const std::vector<std::string>& machines,
                                                                    const Cluster& cluster);

}  // namespace weir
