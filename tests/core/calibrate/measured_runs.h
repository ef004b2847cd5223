// Runs on clusters of the scene's machines, and what a calibration by them told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/prediction.h"
#include "tests/core/calibrate/scene.h"

namespace weir::test {

/// Values other than the scene's topology says.
const Values& truth();

/// The run in a world with these values, measured so often with an error of half a per cent; of these so many
/// in a hundred go wrong.
void measure(RealRun run, const Values& values, int repetitions, double wrong, Random& random,
             std::vector<RealRun>& all);

/// Runs on several numbers of machines.
std::vector<RealRun> runs(int repetitions, double wrong, std::uint64_t seed, const Values& values = truth(),
                          const std::vector<const char*>& strategies = {"unified", "ring", "ps"},
                          const Topology& topology = test::topology());

/// The test fails where it was not fitted.
const CalibratedValue& value(const Calibrated& all, const std::string& path);
double rate(const Calibrated& all, const std::string& path);

}  // namespace weir::test
