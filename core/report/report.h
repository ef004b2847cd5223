// What a run comes to: the length of an iteration and what of it is communication, how fully links are used,
// how much memory machines need. Taken from the run's record, so the same for every world.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/report/interval.h"
#include "core/run/record.h"
#include "core/workload/workload.h"

namespace weir {

/// What a link carries in an iteration.
struct LinkLoad {
  LinkId link;
  Bytes bytes;
  double use = 0.0;  // of what the link could carry in that time
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// Means over the measured iterations.
struct Report {
  Duration first;                   // the first iteration, which all machines start at rest
  Duration iteration;               // from the end of the last forward of all machines to that of the next
  Duration compute;                 // forward and backward as they ran within the measured time, of the
                                    // machine that computes longest
  Duration exposed;                 // iteration - compute: what communication costs; never below 0
  Duration communication;           // during which any message is under way, or without messages any op that
                                    // is no compute
  BytesPerSecond goodput;           // bytes of the model over communication; unlimited if that takes no time
  double samples_per_second = 0.0;  // of all GPUs together
  std::vector<LinkLoad> links;      // those that carry anything, the most used first
  std::vector<Bytes> host_memory;   // by machine
  std::vector<Bytes> gpu_memory;    // by machine, on each of its GPUs
};

/// When the iteration's last forward, of all machines, was done.
Instant end_of(const Plan& plan, const Record& record, int iteration);

/// From when the last forward of all machines was done in the last iteration that is not measured, to when it
/// was in the last of all.
Interval measured_time(const Plan& plan, const Record& record, int warm_up);

/// The report of a run whose first iterations, `warm_up` of them, are not measured.
Report report(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
              int warm_up);
/// By whoever has the plan's table on the cluster.
Report report(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
              const Record& record, int warm_up);

/// What each link carries in an iteration of that length: those that carry anything, the most used first.
std::vector<LinkLoad> links_by_use(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                   Duration iteration);

/// Of a link or a device by its name: the group of its machine, if it has one, and its name there without
/// numbers: "gpu" and "nic.out".
std::pair<std::string, std::string> kind_of(const std::string& name, MachineId machine,
                                            const Cluster& cluster);

/// Of links that differ only in their numbers, as those of all machines of a group or of all its GPUs do, the
/// first alone.
std::vector<LinkLoad> busiest_of_each_kind(const std::vector<LinkLoad>& links, const Cluster& cluster);

}  // namespace weir
