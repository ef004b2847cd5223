// The experiments of a suite, all read and checked before any of them runs, and where their results go.
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

/// Reads the experiment that the input names, or all experiments of the folder that it names. Results go to
/// the folder `out`, or to results/NAME if that is empty. The results of a suite go to subfolders laid out as
/// the suite is. Fails with all errors of all experiments. Sends a notice if there are so many points that
/// checking takes a while.
Result<std::vector<SuiteExperiment>> read_suite(const Input& input, const std::string& out,
                                                const Notice& notice = {});

}  // namespace weir
