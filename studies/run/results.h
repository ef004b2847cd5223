// All runs of an experiment and their results, in the order of the file, whatever the order in which they
// ended; and the texts of the result files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/run/study.h"

namespace weir {

/// One run: its place in the experiment, and its outcome once it has ended.
struct Run {
  std::size_t point = 0;
  Trial trial;
  std::optional<Outcome> outcome;
};

/// Does the run in this process.
Outcome run_one(const ExperimentFile& file, const Run& run, const World& world);

/// Invariants: runs are ordered by point, then strategy, then seed, each in the file's order. All points have
/// equally many runs.
class Results {
 public:
  /// Timelines go into the folder. It may also contain those of other studies if runs have `keys`, which then
  /// are part of the names.
  Results(Study study, const std::string& folder, const std::vector<std::string>& keys = {});
  /// The same for an experiment's file with this configuration.
  Results(const ExperimentFile& file, const Configuration& configuration, const std::string& folder,
          const World& world)
      : Results(study_of(file, configuration, world), folder) {}

  /// Makes every run keep its record and that of its prediction in the folder. No run may have begun.
  void keep_records(const std::string& folder);

  const Study& study() const { return study_; }
  const std::vector<Run>& runs() const { return runs_; }
  /// "ps at topology.groups.cpu.count=0, seed 2".
  std::string name(const Run& run) const;

  void add(std::size_t index, Outcome outcome);
  /// Whether every run of the point has ended.
  bool complete(std::size_t point) const;
  /// How many runs have ended, and how many with this kind of outcome.
  std::size_t ended() const { return ended_; }
  std::size_t count(Outcome::Kind kind) const;

  /// results.csv: a line for each run with a row, below comments that say what was run.
  std::string csv() const;
  /// results.json: the whole configuration, the rows with their most used links, and the runs without a row,
  /// one per line.
  std::string json() const;

 private:
  void compare(std::size_t point);
  bool draws(const Run& run) const;
  /// The name of files that the run leaves, without their extension: "unified-cpu.count=4-seed2".
  std::string file_name(const Run& run) const;

  Study study_;
  std::vector<Run> runs_;
  std::vector<std::size_t> left_;  // by point: runs that have not ended
  std::size_t ended_ = 0;
};

}  // namespace weir
