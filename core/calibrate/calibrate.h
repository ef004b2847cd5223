// A whole calibration: splits the measurements of a topology into fitted and held-out ones, fits values, and
// reports the calibrated topology with the errors on both parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/calibrate/misses.h"
#include "core/calibrate/point.h"
#include "core/calibrate/real_runs.h"
#include "core/cluster/topology.h"

namespace weir {

struct Measurements {
  std::vector<Point> points;
  std::vector<RealRun> runs;
};

struct HoldOut {
  double fraction = 0.0;  // of the sizes that benchmarks measured, and of the kinds of runs
  std::uint64_t seed = 1;
};

/// The errors on the fitted measurements and on the held-out ones.
struct BothMisses {
  Misses fitted;
  Misses held_out;
};

/// What simulation predicts for one run.
struct PredictedRun {
  RealRun run;
  Duration predicted;
  bool held_out = false;
  Predicted both() const { return {predicted.seconds(), run.iteration.seconds()}; }
  double percent() const { return both().percent(); }
};

struct Calibrated {
  Topology topology;                      // its calibration has no version yet
  std::vector<CalibratedValue> values;    // the newly fitted ones, by path
  std::vector<std::string> undetermined;  // paths of values that runs use but nothing determines
  std::vector<std::string> remarks;
  BothMisses points;
  BothMisses runs;
  std::vector<PredictedRun> predicted;  // every run
};

/// Points (and runs) that differ only in their times are held out together, so that a prediction is always of
/// something unseen. Values of an earlier calibration in the topology stay unless they are fitted again.
/// Fails if nothing can be fitted.
Result<Calibrated> calibrate(const Topology& topology, const Measurements& measurements,
                             const HoldOut& hold_out);

}  // namespace weir
