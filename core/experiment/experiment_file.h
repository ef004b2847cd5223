// Experiment files: an experiment with its sweep. Every mistake is reported with its line. Swept values go
// into the document before it is parsed, so everything that a file can state can be varied.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"
#include "core/experiment/axis.h"
#include "core/experiment/experiment.h"
#include "core/experiment/settings.h"

namespace weir {

/// A value. Invariant: its files have been read. The points are checked by experiment() only.
class ExperimentFile {
 public:
  /// Reads the file (or experiment.json in the folder) and the topologies and traces that it names. Settings
  /// replace values of the file at every point; a sweep of the same path is left out.
  static Result<ExperimentFile> read(const std::string& file, const std::vector<Setting>& settings = {});
  /// The same without a file, from a topology and a trace.
  static Result<ExperimentFile> of(const std::string& topology, const std::string& trace,
                                   const std::vector<Setting>& settings = {});

  /// The same from text that contains the topology and the trace. Errors use this name for it.
  static Result<ExperimentFile> parse(const std::string& text, const std::string& name);

  /// The file that was read (experiment.json for a folder); empty without a file.
  const std::string& name() const { return name_; }
  const std::vector<Setting>& settings() const { return settings_; }
  /// All files that its points are read from. May also contain names of things that never were files, such as
  /// `--set` or a strategy.
  std::vector<std::string> files() const;

  /// What is varied, in the order of the file: the sweep, then samples.
  const std::vector<Axis>& axes() const { return axes_; }
  Combination combination() const { return combination_; }
  /// The member "samples" as the file states it; null if there is none.
  Value samples() const;

  /// How many points there are, in the order of point_of(). One if nothing is varied.
  std::size_t points() const;
  std::vector<Setting> point(std::size_t index) const;

  /// The checked experiment with these values and the settings: those of point(i), or {} for the values in
  /// the file.
  Result<Experiment> experiment(const std::vector<Setting>& point) const;

  /// Calls `seen` with the experiment of each point. After all of them, fails with what is wrong at any
  /// point, each error once.
  using Seen = std::function<void(const Experiment& experiment)>;
  Result<void> each_point(const Seen& seen) const;

 private:
  ExperimentFile(std::string name, Value document, const std::vector<Setting>& settings)
      : name_(std::move(name)), document_(std::move(document)), settings_(settings) {}
  /// Reads all that the document and the settings name.
  static Result<ExperimentFile> whole(ExperimentFile file);
  /// Replaces the names of topology and trace by the content of their files.
  std::vector<Error> read_parts();
  std::vector<Error> read_sweep();
  /// Whether both paths lead to the same place in this experiment, or in a topology or trace of its sweep.
  bool same(const std::string& path, const std::string& other) const;
  /// Leaves out the axes whose paths the settings set.
  void leave_out_what_is_set(std::vector<Error>& errors);
  /// An error at the place of the axis in the file.
  Error complain(const Axis& axis, std::string_view text) const;
  /// The file that a string names.
  std::string file_named(const Value& value) const;
  /// The document that a string names; any other value itself. `path` is the value's path, for errors.
  Result<Value> resolved(const Value& value, std::string_view path) const;
  /// What is wrong among parts that are right alone. `document` is the experiment at one point.
  std::vector<Error> check_together(const Experiment& experiment, const Value& document) const;
  /// The path of a part of the experiment in its document; empty if the part is a file of its own.
  std::string path_of(const Value& part, const std::string& name) const;

  std::string name_;
  Value document_;  // contains topology and trace themselves
  std::vector<Setting> settings_;
  std::vector<Axis> axes_;
  Combination combination_ = Combination::kGrid;
};

/// The experiment as JSON with every default filled in; topology and trace by their hashes.
nlohmann::ordered_json write_experiment(const Experiment& experiment);

/// Every option as an experiment file states it, in the schema's order.
nlohmann::ordered_json write_options(const Options& options);

/// The experiment with only this strategy or variant, as the text of a file that contains its topology and
/// trace: all that another machine needs to make the same plan.
std::string whole_text(const Experiment& experiment, const std::string& contender);

/// A topology or trace as compact JSON with every default filled in, and the hash of that text.
struct HashedText {
  std::string hash;
  std::string text;
};
HashedText hashed(const Topology& topology);
HashedText hashed(const Trace& trace);

/// The JSON Schema of experiment files.
std::string experiment_schema();

}  // namespace weir
