// All runs of an experiment and what they came to, in the order of the file whatever the order in which they
// ended; and the files that hold them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/run/study.h"

namespace weir {

/// One run: its place in the experiment, and how it ended, if it has.
struct Run {
  std::size_t point = 0;
  Trial trial;
  std::optional<Outcome> outcome;
};

/// Runs it in this process.
Outcome run_one(const ExperimentFile& file, const Run& run, const World& world);

/// Invariants: runs are ordered by point, then strategy, then seed, each as the file has them; a point has
/// equally many.
class Results {
 public:
  /// Timelines go into the folder. There may be those of other studies, if each run has a key, by which its
  /// timeline is then named too.
  Results(Study study, const std::string& folder, const std::vector<std::string>& keys = {});
  /// The same for an experiment's file, whose configuration this is.
  Results(const ExperimentFile& file, const Configuration& configuration, const std::string& folder,
          const World& world)
      : Results(study_of(file, configuration, world), folder) {}

  /// Every run, of which none has begun, leaves its record in the folder, and that of its prediction.
  void keep_records(const std::string& folder);

  const Study& study() const { return study_; }
  const std::vector<Run>& runs() const { return runs_; }
  /// "ps at topology.groups.cpu.count=0, seed 2".
  std::string name(const Run& run) const;

  void add(std::size_t index, Outcome outcome);
  /// Every run of the point has ended.
  bool complete(std::size_t point) const;
  /// How many runs have ended, and how many of them so.
  std::size_t ended() const { return ended_; }
  std::size_t count(Outcome::Kind kind) const;

  /// results.csv: a line for each run that has a row, under comments that say what was run.
  std::string csv() const;
  /// results.json: the whole configuration, the rows with their most used links, and what has no row; a line
  /// for each.
  std::string json() const;

 private:
  void compare(std::size_t point);
  bool draws(const Run& run) const;
  /// Of what is kept of the run, without what kind of file it is: "unified-cpu.count=4-seed2".
  std::string file_name(const Run& run) const;

  Study study_;
  std::vector<Run> runs_;
  std::vector<std::size_t> left_;  // by point: runs that have not ended
  std::size_t ended_ = 0;
};

}  // namespace weir
