// What `weir tune` can vary and within which limits, and what it varies by default for each strategy.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/experiment/settings_file.h"
#include "core/tune/space.h"

namespace weir {

/// Something that a search varies, and its values. A value.
struct Tunable {
  std::string name;           // an option, or a name in a settings file's "run"
  std::vector<Value> values;  // as in files; at least one
  tune::Dimension dimension = tune::Dimension::choices(1);
  bool streams = false;  // whether it belongs to real runs
};

/// Parses what to vary: names separated by commas, each alone or with its values, such as
/// "partition_size=250KB..16MB,credit=1|2|4,local". If empty, what usually matters for the strategy on the
/// experiment's machines. Errors begin with "over".
Result<std::vector<Tunable>> tunables(const std::string& over, const Experiment& experiment,
                                      const Contender& contender, bool real);

/// The space of all combinations of their values.
tune::Space space_of(const std::vector<Tunable>& tunables);

/// For each the value nearest to the experiment's.
tune::Point nearest_point(const std::vector<Tunable>& tunables, const Options& options, const Streams& run);

/// The point's values: for options and for real runs.
SettingsFile settings_at(const std::vector<Tunable>& tunables, const tune::Point& point);

/// The names and their default ranges, as a table for the help.
std::string tunables_help();

}  // namespace weir
