#include "apps/weir/text/tune_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/calibrate/label.h"
#include "core/document/document.h"

namespace weir {
namespace {

std::string words_of(const SettingsFile& file) {
  std::string words = label(settings_of(file));
  for (const auto& [name, member] : kStreams) {
    if (const auto& value = file.run.*member)
      words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, *value);
  }
  return words;
}

std::string iteration(double seconds) { return rounded(Duration::from_seconds(seconds)); }

}  // namespace

TuneTable::TuneTable(const std::vector<Tunable>& tunables, bool simulated)
    : tunables_(tunables), simulated_(simulated), table_(columns(tunables, simulated)) {}

std::vector<Table::Column> TuneTable::columns(const std::vector<Tunable>& tunables, bool simulated) {
  using Side = Table::Column::Side;
  std::vector<Table::Column> columns = {{"trial", Side::kRight, 0}};
  for (const Tunable& tunable : tunables) {
    std::size_t width = 0;
    for (const Value& value : tunable.values) width = std::max(width, label(value).size());
    columns.push_back({tunable.name, Side::kRight, width});
  }
  columns.push_back({"iteration", Side::kRight, 0});
  if (simulated) columns.push_back({"label", Side::kLeft, enum_name(Trust::kVendorConstant).size()});
  columns.push_back({"", Side::kLeft, 0});
  return columns;
}

std::string TuneTable::line(std::size_t number, const TuneTrial& trial) {
  Table::Cells cells = {std::to_string(number + 1)};
  for (std::size_t i = 0; i < tunables_.size(); ++i)
    cells.push_back(label(tunables_[i].values[trial.point[i]]));
  const std::optional<double> seconds = trial.seconds();
  cells.push_back(seconds ? iteration(*seconds) : "-");
  if (simulated_) cells.push_back(trial.outcome.row.label.value_or("-"));
  if (!seconds) {
    const std::string why = trial.outcome.text.substr(0, trial.outcome.text.find('\n'));
    cells.push_back((trial.outcome.kind == Outcome::Kind::kImpossible ? "not possible: " : "failed: ") + why);
  } else if (!least_ || *seconds < *least_) {
    least_ = seconds;
    cells.emplace_back("best so far");
  } else {
    cells.emplace_back("");
  }
  return table_.line(cells);
}

namespace {

// Prints the subject before the progress appears. Returns the number of trials.
std::size_t introduced(const TuneSubject& subject, const World& world, bool table) {
  if (table) {
    print("{} of {} on {}, {}: at most {} trials among {} settings\n\n", subject.strategy,
          subject.experiment.trace.name, subject.experiment.topology.name, world.name, subject.trials,
          space_of(subject.tunables).size());
  }
  std::fflush(stdout);
  return subject.trials;
}

}  // namespace

TuneScreen::TuneScreen(const TuneSubject& subject, const World& world, bool table)
    : shows_table_(table),
      table_(subject.tunables, world.simulated),
      progress_(introduced(subject, world, table)) {
  if (table) print("{}", table_.header());
}

TuneEvents TuneScreen::events() {
  TuneEvents events;
  events.ended = [this](std::size_t ended) {
    progress_.clear();
    progress_.show(ended);
  };
  events.trial = [this](std::size_t number, const TuneTrial& trial) {
    progress_.clear();
    if (shows_table_) print("{}", table_.line(number, trial));
    std::fflush(stdout);
  };
  return events;
}

std::string summary(const Tuning& tuning) {
  const double least = *tuning.trials[*tuning.best].seconds();
  std::string words =
      fmt::format("best: {}: {} an iteration, found in trial {} of {}", words_of(tuning.settings()),
                  iteration(least), *tuning.best + 1, tuning.trials.size());
  const std::size_t near = tuning.near();
  if (near != *tuning.best)
    words += fmt::format("; trial {} was the first within {:.0f} % of it", near + 1, 100 * kNear);
  const std::optional<double> first = tuning.trials.front().seconds();
  if (tuning.began_near && first && *tuning.best != 0)
    words += fmt::format("\ntrial 1, the nearest to the experiment's settings, takes {:.1f} % longer",
                         100 * (*first / least - 1));
  words += "\n";
  const TuneTrial& best = tuning.trials[*tuning.best];
  if (!best.simulated()) return words;
  const std::string reason = best.outcome.row.label_reason.value_or("");
  return words + *best.outcome.row.label + (reason.empty() ? "" : ": " + reason) + "\n";
}

std::string json(const Tuning& tuning) {
  const auto written = [](const SettingsFile& file) {
    return nlohmann::ordered_json::parse(weir::text(file), nullptr, false);
  };
  const auto add_times = [](nlohmann::ordered_json& into, const Row& row) {
    into["iteration_ns"] = row.iteration_ns;
    if (row.predicted_ns) into["predicted_ns"] = *row.predicted_ns;
    if (row.label) into["label"] = *row.label;
    if (row.label_reason) into["label_reason"] = *row.label_reason;
  };
  nlohmann::ordered_json all = {{"weir", tuning.about.weir},
                                {"experiment", tuning.about.experiment},
                                {"set", tuning.about.set},
                                {"strategy", tuning.about.strategy},
                                {"world", tuning.about.world},
                                {"method", tuning.about.method},
                                {"seed", tuning.about.seed},
                                {"finished", !tuning.signal},
                                {"values", nlohmann::ordered_json::object()}};
  for (const Tunable& tunable : tuning.tunables) {
    nlohmann::ordered_json& values = all["values"][tunable.name] = nlohmann::ordered_json::array();
    for (const Value& value : tunable.values) values.push_back(json(value));
  }
  all["trials"] = nlohmann::ordered_json::array();
  for (const TuneTrial& trial : tuning.trials) {
    nlohmann::ordered_json one = written(settings_at(tuning.tunables, trial.point));
    if (trial.seconds()) {
      add_times(one, trial.outcome.row);
    } else {
      one["why_not"] = trial.outcome.text;
    }
    all["trials"].push_back(std::move(one));
  }
  if (tuning.best) {
    all["best"] = written(tuning.settings());
    all["best"].erase("tuned");
    add_times(all["best"], tuning.trials[*tuning.best].outcome.row);
    all["best"]["trial"] = *tuning.best + 1;
    all["best"]["within_2_percent"] = tuning.near() + 1;
  }
  return json_text(all, 2) + "\n";
}

}  // namespace weir
