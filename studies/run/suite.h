// The experiments of a suite, read and checked before any of them runs, and where their results go.
#pragma once

#include <string>
#include <vector>

#include "studies/output/notice.h"
#include "studies/run/configuration.h"
#include "studies/run/input.h"

namespace weir {

/// One experiment. A value.
struct SuiteExperiment {
  std::string name;
  std::string folder;  // for its results
  ExperimentFile file;
  Configuration configuration;  // of the file
};

/// The experiment that the input names, or all of the folder that it names. Results go to the folder `out`;
/// if that is empty, to results/NAME. Those of a suite go to folders in there, laid out as the suite is.
/// Fails with all that is wrong with any. Notices when so many points are checked that it takes a while.
Result<std::vector<SuiteExperiment>> read_suite(const Input& input, const std::string& out,
                                                const Notice& notice = {});

}  // namespace weir
