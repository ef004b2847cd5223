// Another training job on the cluster of an experiment. It has machines of its own, and shares the network
// with the job under study.
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
  std::string strategy;  // once read, the name of a strategy
  Options options;
  std::vector<std::string> machines;  // names; '*' stands for any text
  Duration start;                     // when its first iteration begins
};

/// What is wrong with the machines of jobs, each with its path, such as "other_jobs[0].machines": names of no
/// machine, no machine with a GPU, or a machine with GPUs that another job has. `machines` are those of the
/// job under study.
std::vector<std::pair<std::string, std::string>> faults(const std::vector<std::string>& machines,
                                                        const std::vector<OtherJob>& others,
                                                        const Cluster& cluster);

/// Permanent stops of machines outside `machines`, each with its path, such as "stops[0].machines". Such a
/// stop would end the run, though its effect on a job that goes on is not defined.
std::vector<std::pair<std::string, std::string>> failures_elsewhere(const Conditions& conditions,
                                                                    const std::vector<std::string>& machines,
                                                                    const Cluster& cluster);

}  // namespace weir
