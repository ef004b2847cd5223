// Runs a whole experiment into a folder: every point with every strategy and every seed, each run in a
// process of its own, and result files that are up to date while runs end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "studies/run/published_comparison.h"
#include "studies/run/result_files.h"
#include "studies/run/results.h"

namespace weir {

struct RunSettings {
  std::string folder;    // for the results
  int jobs = 1;          // runs at once, in simulation; a real world has one at a time
  bool records = false;  // keep the record of each run
};

/// One experiment that runs. The folder is its own as long as it lives. A resource; to be used in a process
/// with one thread.
class ExperimentRun {
 public:
  /// Makes the folder. Fails if it cannot be written, or another run writes there. The file and the world
  /// outlive it.
  static Result<std::unique_ptr<ExperimentRun>> begin(const ExperimentFile& file,
                                                      const Configuration& configuration, const World& world,
                                                      RunSettings settings);
  ExperimentRun(const ExperimentRun&) = delete;
  ExperimentRun& operator=(const ExperimentRun&) = delete;

  /// Every run, and what those that have ended came to.
  const Results& results() const { return results_; }

  /// Does all runs, and calls `ended` in this process after each. A signal that asks to end (SIGINT, SIGTERM,
  /// SIGHUP) ends those that run, and is returned. Either way what has ended is in the files when this
  /// returns. Fails if these could not be written.
  Result<std::optional<int>> run(const std::function<void()>& ended = {});

  /// The results beside what is published, if the experiment names that; published.csv has them then. The
  /// name is that of the experiment.
  Result<std::vector<Comparison>> compare(const std::string& name) const;

 private:
  ExperimentRun(const ExperimentFile& file, const Configuration& configuration, const World& world,
                RunSettings settings);

  const ExperimentFile& file_;
  const Experiment first_;
  const World& world_;
  RunSettings settings_;
  Results results_;
  ResultFiles files_;
};

}  // namespace weir
