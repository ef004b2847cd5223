// Files of measurements, of whatever kind, as weir calibrate takes them.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/calibrate.h"

namespace weir {

struct MeasurementFiles {
  std::vector<std::string> files;  // "FILE", or "GROUP=FILE": of the machines of that group alone
  std::string experiment;          // what rows without one are of; may be empty
};

struct ReadMeasurements {
  Measurements measurements;
  std::vector<std::string> remarks;  // what was left out, and why
};

/// Reads all. Runs of other clusters than the topology's are left out, with a remark.
Result<ReadMeasurements> read_measurements(const MeasurementFiles& files, const Topology& topology);

}  // namespace weir
