// Files of measurements of any kind, as weir calibrate reads them.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/calibrate.h"

namespace weir {

struct MeasurementFiles {
  std::vector<std::string> files;  // "FILE", or "GROUP=FILE" if only of that group's machines
  std::string experiment;          // the experiment of rows that name none; may be empty
};

struct ReadMeasurements {
  Measurements measurements;
  std::vector<std::string> remarks;  // what was left out, and why
};

/// Reads all files. Runs on clusters other than the topology's are left out, with a remark.
Result<ReadMeasurements> read_measurements(const MeasurementFiles& files, const Topology& topology);

}  // namespace weir
