// The inputs of an experiment's points, which result files repeat: each topology and each trace in full,
// once.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment_file.h"

namespace weir {

/// A topology or a trace.
struct Source {
  std::string hash;  // identifies it
  std::string name;  // for people
  std::string text;  // compact JSON with all defaults filled in
};

struct Configuration {
  Experiment first;  // of the first point; what no sweep can change is the same for all
  std::vector<Source> topologies;
  std::vector<Source> traces;

  /// The positions of a point's topology and trace in the lists.
  struct Point {
    std::size_t topology = 0;
    std::size_t trace = 0;
  };
  std::vector<Point> points;
};

/// Reads every point of the file, and passes each experiment to `seen`. Fails with all errors of all points.
Result<Configuration> configuration_of(
    const ExperimentFile& file, const ExperimentFile::Seen& seen = [](const Experiment&) {});

/// The name of a trace as a source: "VGG-16 (553430176 bytes)".
std::string name_of(const Trace& trace);

/// The distinct names of the sources: "small, large".
std::string names(const std::vector<Source>& sources);

}  // namespace weir
