// Runs on clusters of the scene's machines, and values that a calibration fitted to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/prediction.h"
#include "tests/core/calibrate/scene.h"

namespace weir::test {

/// The true values, which differ from those of the scene's topology.
const Values& truth();

/// Adds repetitions of the run in a world with these values, with an error of half a per cent. The fraction
/// `wrong` of them goes wrong.
void measure(RealRun run, const Values& values, int repetitions, double wrong, Random& random,
             std::vector<RealRun>& all);

/// Runs on several numbers of machines.
std::vector<RealRun> runs(int repetitions, double wrong, std::uint64_t seed, const Values& values = truth(),
                          const std::vector<const char*>& strategies = {"unified", "ring", "ps"},
                          const Topology& topology = test::topology());

/// The fitted value; the test fails if there is none.
const CalibratedValue& value(const Calibrated& all, const std::string& path);
double rate(const Calibrated& all, const std::string& path);

}  // namespace weir::test
