// The summary of a run: how long an iteration takes and how much of it is communication, how fully links are
// used, and how much memory machines need. It is computed from the run's record, in the same way for every
// world.
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
  double use = 0.0;  // fraction of what the link could carry in that time
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// Means over the measured iterations.
struct Report {
  Duration first;  // the first iteration, which all machines start while idle
  // From the end of the last forward op of all machines to that of the next iteration.
  Duration iteration;
  Duration compute;  // time of forward and backward ops within the measured time, of the machine that
                     // computes longest
  Duration exposed;  // iteration - compute: what communication costs; never below 0
  // Time while any message is under way; without messages, any op that is not computation.
  Duration communication;
  BytesPerSecond goodput;           // bytes of the model / communication; unlimited if that is 0
  double samples_per_second = 0.0;  // of all GPUs together
  std::vector<LinkLoad> links;      // those that carry anything, most used first
  std::vector<Bytes> host_memory;   // by machine
  std::vector<Bytes> gpu_memory;    // by machine, on each of its GPUs
};

/// When the iteration's last forward op, over all machines, ended.
Instant end_of(const Plan& plan, const Record& record, int iteration);

/// The measured time: from the end of the last forward op of the last warm-up iteration to that of the last
/// iteration, over all machines.
Interval measured_time(const Plan& plan, const Record& record, int warm_up);

/// The report of a run; the first `warm_up` iterations are not measured.
Report report(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
              int warm_up);
/// The same, for callers that have the plan's work table on the cluster.
Report report(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
              const Record& record, int warm_up);

/// What each link carries in an iteration of this length. Only links that carry anything, most used first.
std::vector<LinkLoad> links_by_use(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                   Duration iteration);

/// The kind of a link or device, from its name: the group of its machine, if it has one, and its name within
/// the machine without numbers, such as "gpu" and "nic.out".
std::pair<std::string, std::string> kind_of(const std::string& name, MachineId machine,
                                            const Cluster& cluster);

/// Only the first of links that differ only in their numbers, such as those of all machines of a group or of
/// all its GPUs.
std::vector<LinkLoad> busiest_of_each_kind(const std::vector<LinkLoad>& links, const Cluster& cluster);

}  // namespace weir
