// A calibration from beginning to end: measurements of a topology split into those that are fitted and those
// that are held out, the fit, the calibrated topology, and its errors on both apart.
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

/// The errors on what was fitted, and on what was held out.
struct BothMisses {
  Misses fitted;
  Misses held_out;
};

/// What simulation says of one run.
struct ForetoldRun {
  RealRun run;
  Duration predicted;
  bool held_out = false;
  Predicted both() const { return {predicted.seconds(), run.iteration.seconds()}; }
  double percent() const { return both().percent(); }
};

struct Calibrated {
  Topology topology;                    // its calibration names no version yet
  std::vector<CalibratedValue> values;  // those that were fitted now, by path
  std::vector<std::string> untold;      // values that runs use and nothing tells, by path
  std::vector<std::string> remarks;
  BothMisses points;
  BothMisses runs;
  std::vector<ForetoldRun> foretold;  // every run
};

/// Points, and runs, that differ in nothing but their times are held out together: what is foretold then was
/// never seen. Of an earlier calibration in the topology those values stay that are not fitted again. Fails
/// if nothing can be fitted.
Result<Calibrated> calibrate(const Topology& topology, const Measurements& measurements,
                             const HoldOut& hold_out);

}  // namespace weir
