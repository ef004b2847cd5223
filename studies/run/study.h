// Everything that an experiment will run, as data. Results repeat it, it identifies runs, and sweeps store it
// in their folder. So results can be read even if the experiment's files are gone or have changed.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment_file.h"
#include "studies/run/configuration.h"
#include "studies/run/trial.h"

namespace weir {

struct StudyAxis {
  std::string path;
  bool sampled = false;
  std::vector<Value> choices;  // a whole topology or trace by its name
};

struct StudyPoint {
  std::size_t topology = 0;  // positions in the lists
  std::size_t trace = 0;
  std::vector<Value> values;  // one for each axis
};

/// A value. Invariant: once read or made, positions are valid, and each point has a value for each axis.
struct Study {
  std::string weir;  // the version that made it
  std::string file;
  Value settings = Value::object();  // of the command line, by path
  std::string question;
  std::string world;
  std::string world_settings;
  bool simulated = true;
  Value experiment;  // its values at every point, without topology and trace
  std::string baseline;
  std::vector<std::string> strategies;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> timelines;
  TimelinePoints timeline_points = TimelinePoints::kLast;
  std::vector<StudyAxis> axes;
  Combination combination = Combination::kGrid;
  Value samples;  // as in the experiment; null without samples
  std::vector<Source> topologies;
  std::vector<Source> traces;
  std::vector<StudyPoint> points;

  /// "topology.groups.cpu.count=4 partition_size=1MB".
  std::string label(std::size_t point) const;
  std::size_t runs_per_point() const { return strategies.size() * seeds.size(); }
};

Study study_of(const ExperimentFile& file, const Configuration& configuration, const World& world);

/// As JSON, and back. A document may have been edited since, so it is checked like any other; `path` is its
/// place in its file.
std::string text(const Study& study);
Result<Study> study_from(const Value& document, const std::string& path = "");

}  // namespace weir
