// Draws a run op by op, in the JSON that chrome://tracing and Perfetto read. Machines are processes; devices
// and channels of messages are tracks; the use of links appears as counters beside them.
#pragma once

#include <span>
#include <string>

#include "core/cluster/cluster.h"
#include "core/hardware/model.h"
#include "core/plan/plan.h"
#include "core/run/record.h"
#include "core/workload/workload.h"

namespace weir {

/// Draws the measured iterations; their first op starts at 0.
///
/// * An event has its layer's name; on the track of computations the name follows what is computed. The event
///   lasts from the op's turn until the next op may have its turn (core/report/service.h). Its args give the
///   iteration unless it is the first, 0. Ops that take no time are left out.
/// * Successive ops of one layer on a track are drawn as one if each of them, and each pause between them,
///   takes less than a ten-thousandth of the whole. The args then give their number and their total time.
/// * A counter is a link's use in percent of its rate. It jumps where flows begin and end; each flow counts
///   with its mean rate. Where that happens too often to draw, the counter shows means over 150 equal times.
///   Links of one machine that differ only in their numbers share a counter if they draw the same. Links of
///   no machine belong to a process "network".
/// * "otherData" names the layers, from input to output.
std::string timeline(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
                     int warm_up, const Model& model);

/// A run to draw. Its references outlive the drawing.
struct Drawn {
  std::string name;  // needed only if there are several runs: "A"
  const Plan& plan;
  const Cluster& cluster;
  const Workload& workload;
  const Record& record;
  int warm_up = 0;
  const Model& model;
};

/// Draws several runs of one plan, one above the other: "gpu[0] of A", "gpu[0] of B", "gpu[1] of A". The
/// first measured op of each starts at 0. There must be at least one run.
std::string timelines(std::span<const Drawn> runs);

}  // namespace weir
