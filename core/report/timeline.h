// Draws a run op by op, in the JSON that chrome://tracing and Perfetto read: machines are processes, devices
// and channels of messages tracks, and the use of links counters beside them.
#pragma once

#include <span>
#include <string>

#include "core/cluster/cluster.h"
#include "core/hardware/model.h"
#include "core/plan/plan.h"
#include "core/run/record.h"
#include "core/workload/workload.h"

namespace weir {

/// The measured iterations; their first op starts at 0.
///
/// * An event bears its layer's name, on the track of computations after what is computed. It lasts from the
///   op's turn until the next may have its (core/report/service.h). Its args tell the iteration if that is
///   not the first, 0. Ops that take no time are left out.
/// * Ops of one layer that follow each other on a track are drawn as one where they, and the pauses between
///   them, take less than a ten-thousandth of the whole each; its args tell how many they are and how long
///   they take together.
/// * A counter is a link's use in percent of its rate. It jumps where flows begin and end, each at its mean
///   rate; where that is too often to draw, it is the mean over one of 150 equal times. Links of a machine
///   that differ only in their numbers share a counter if they draw the same. Links of no machine are those
///   of a process "network".
/// * "otherData" names the layers, from input to output.
std::string timeline(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
                     int warm_up, const Model& model);

/// A run to be drawn. References; they outlive the drawing.
struct Drawn {
  std::string name;  // if there are several: "A"
  const Plan& plan;
  const Cluster& cluster;
  const Workload& workload;
  const Record& record;
  int warm_up = 0;
  const Model& model;
};

/// Several runs of one plan, one over the other: "gpu[0] of A", "gpu[0] of B", "gpu[1] of A". The first
/// measured op of each starts at 0. At least one.
std::string timelines(std::span<const Drawn> runs);

}  // namespace weir
