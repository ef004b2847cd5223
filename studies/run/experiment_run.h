// Runs a whole experiment into a folder: every point with every strategy and seed, each run in a process of
// its own. Result files stay up to date while runs end.
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
  int jobs = 1;          // runs at once, in simulation; real worlds have one at a time
  bool records = false;  // keep the record of each run
};

/// One running experiment. It owns the folder for its lifetime. A resource; use it in a process with one
/// thread.
class ExperimentRun {
 public:
  /// Makes the folder. Fails if it is not writable or another run writes there. The file and the world
  /// outlive the run.
  static Result<std::unique_ptr<ExperimentRun>> begin(const ExperimentFile& file,
                                                      const Configuration& configuration, const World& world,
                                                      RunSettings settings);
  ExperimentRun(const ExperimentRun&) = delete;
  ExperimentRun& operator=(const ExperimentRun&) = delete;

  /// Every run, and the results of those that have ended.
  const Results& results() const { return results_; }

  /// Does all runs, and calls `ended` in this process after each. A signal that asks to end (SIGINT, SIGTERM,
  /// SIGHUP) ends the running ones and is returned. In any case all results so far are in the files on
  /// return. Fails if the files could not be written.
  Result<std::optional<int>> run(const std::function<void()>& ended = {});

  /// Compares the results with published ones, if the experiment names any, and writes published.csv. `name`
  /// is the experiment's name.
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
