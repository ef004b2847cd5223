// What the points of an experiment are made of, for result files to repeat: each topology and each trace
// whole and once.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment_file.h"

namespace weir {

/// A topology or a trace.
struct Source {
  std::string hash;  // which tells it apart
  std::string name;  // for people
  std::string text;  // as compact JSON with every default filled in
};

struct Configuration {
  Experiment first;  // of the first point: what no sweep can change holds for all
  std::vector<Source> topologies;
  std::vector<Source> traces;

  /// The positions of a point's topology and trace in the lists.
  struct Point {
    std::size_t topology = 0;
    std::size_t trace = 0;
  };
  std::vector<Point> points;
};

/// Reads every point of the file, and fails with all that is wrong with any. Shows each experiment too.
Result<Configuration> configuration_of(
    const ExperimentFile& file, const ExperimentFile::Seen& seen = [](const Experiment&) {});

/// The name of a trace as a source: "VGG-16 (553430176 bytes)".
std::string name_of(const Trace& trace);

/// The names of the sources, each once: "small, large".
std::string names(const std::vector<Source>& sources);

}  // namespace weir
