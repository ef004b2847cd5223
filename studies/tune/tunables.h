// What `weir tune` can vary, between which values, and of which strategy by default.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/experiment/settings_file.h"
#include "core/tune/space.h"

namespace weir {

/// One of the things that a search varies, and its values. A value.
struct Tunable {
  std::string name;           // an option, or one of a settings file's "run"
  std::vector<Value> values;  // as files have them; at least one
  tune::Dimension dimension = tune::Dimension::choices(1);
  bool streams = false;  // of real runs
};

/// What `--over` says: names with commas between them, each alone or with its values, such as
/// "partition_size=250KB..16MB,credit=1|2|4,local". Empty: what usually matters for the strategy on the
/// experiment's machines. Complaints name the option.
Result<std::vector<Tunable>> tunables(const std::string& over, const Experiment& experiment,
                                      const Contender& contender, bool real);

/// The space of all of their values.
tune::Space space_of(const std::vector<Tunable>& tunables);

/// For each the value nearest to what the experiment has.
tune::Point nearest_point(const std::vector<Tunable>& tunables, const Options& options, const Streams& run);

/// The point's values: those of options, and those of real runs.
SettingsFile settings_at(const std::vector<Tunable>& tunables, const tune::Point& point);

/// The names, and between which values they are by default, as a table for the help.
std::string tunables_help();

}  // namespace weir
