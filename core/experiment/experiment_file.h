// Experiment files: an experiment with its sweep, read with every mistake told at its line. A swept value
// goes into the document before it is parsed, so that whatever can be written in a file can be varied.
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

/// A value. Invariant: its files have been read; what points mean is not checked before experiment().
class ExperimentFile {
 public:
  /// Reads the file, or experiment.json in the folder, and the topologies and traces that it names. Settings
  /// replace what the file and its sweep say, at every point; a sweep along their path is left out.
  static Result<ExperimentFile> read(const std::string& file, const std::vector<Setting>& settings = {});
  /// The same for an experiment that has no file and says nothing but its topology and its trace.
  static Result<ExperimentFile> of(const std::string& topology, const std::string& trace,
                                   const std::vector<Setting>& settings = {});

  /// The same for the text of an experiment that holds its topology and its trace itself; complaints call it
  /// by this name.
  static Result<ExperimentFile> parse(const std::string& text, const std::string& name);

  /// The file that was read, which the name of a folder stands for; empty if there is none.
  const std::string& name() const { return name_; }
  const std::vector<Setting>& settings() const { return settings_; }
  /// All files that its points are read from. (Names of what never was a file, as `--set` or a strategy's,
  /// may be among them.)
  std::vector<std::string> files() const;

  /// What is varied, in the order of the file: the sweep, then samples.
  const std::vector<Axis>& axes() const { return axes_; }
  Combination combination() const { return combination_; }
  /// What is sampled and how, as the file has it; null without any.
  Value samples() const;

  /// How many points there are (point_of() says in which order). One if nothing is varied.
  std::size_t points() const;
  std::vector<Setting> point(std::size_t index) const;

  /// The experiment with these values and the settings put into it, checked: point(i), or {} for what stands
  /// in the file.
  Result<Experiment> experiment(const std::vector<Setting>& point) const;

  /// Shows the experiment of each point in turn. Fails, after all of them, with what is wrong with any, each
  /// complaint once.
  using Seen = std::function<void(const Experiment& experiment)>;
  Result<void> each_point(const Seen& seen) const;

 private:
  ExperimentFile(std::string name, Value document, const std::vector<Setting>& settings)
      : name_(std::move(name)), document_(std::move(document)), settings_(settings) {}
  /// With all that its document and its settings name.
  static Result<ExperimentFile> whole(ExperimentFile file);
  /// Replaces the names of topology and trace by what their files hold.
  std::vector<Error> read_parts();
  std::vector<Error> read_sweep();
  /// Whether both paths lead to the same in this experiment, or in a topology or trace of its sweep.
  bool same(const std::string& path, const std::string& other) const;
  /// Leaves out the axes whose paths the settings set.
  void leave_out_what_is_set(std::vector<Error>& errors);
  /// Complains at the place where the file has the axis.
  Error complain(const Axis& axis, std::string_view text) const;
  /// The file that a string names.
  std::string file_named(const Value& value) const;
  /// The document that a string names; any other value itself. The path is the value's, for complaints.
  Result<Value> resolved(const Value& value, std::string_view path) const;
  /// What is wrong with things that are each right alone. The document is the experiment's at one point.
  std::vector<Error> check_together(const Experiment& experiment, const Value& document) const;
  /// Where a part of the experiment stands in its document: nowhere if that is a file of its own.
  std::string path_of(const Value& part, const std::string& name) const;

  std::string name_;
  Value document_;  // topology and trace are those themselves
  std::vector<Setting> settings_;
  std::vector<Axis> axes_;
  Combination combination_ = Combination::kGrid;
};

/// The experiment as JSON with every default filled in; topology and trace by their hashes.
nlohmann::ordered_json write_experiment(const Experiment& experiment);

/// Every option as an experiment file has it, in the schema's order.
nlohmann::ordered_json write_options(const Options& options);

/// The experiment with one of its strategies or variants alone, as the text of a file that holds its topology
/// and its trace itself: all that another machine needs to make the same plan.
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
