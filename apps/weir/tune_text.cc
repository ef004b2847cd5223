#include "apps/weir/tune_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/units_text.h"

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

std::optional<double> TuneTrial::seconds() const {
  if (outcome.kind != Outcome::Kind::kRow || outcome.row.iteration_ns <= 0) return std::nullopt;
  return Duration(outcome.row.iteration_ns).seconds();
}

std::size_t Tuning::near() const {
  const double least = *trials[*best].seconds();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::optional<double> seconds = trials[i].seconds();
    if (seconds && *seconds <= (1 + kNear) * least) return i;
  }
  return *best;
}

SettingsFile Tuning::settings() const {
  SettingsFile file = settings_at(tunables, trials[*best].point);
  file.tuned = about;
  file.tuned->trials = std::ssize(trials);
  file.tuned->iteration = Duration(trials[*best].outcome.row.iteration_ns);
  return file;
}

TuneTable::TuneTable(const std::vector<Tunable>& tunables) : tunables_(tunables), table_(columns(tunables)) {}

std::vector<Table::Column> TuneTable::columns(const std::vector<Tunable>& tunables) {
  using Side = Table::Column::Side;
  std::vector<Table::Column> columns = {{"trial", Side::kRight, 0}};
  for (const Tunable& tunable : tunables) {
    std::size_t width = 0;
    for (const Value& value : tunable.values) width = std::max(width, label(value).size());
    columns.push_back({tunable.name, Side::kRight, width});
  }
  columns.push_back({"iteration", Side::kRight, 0});
  columns.push_back({"", Side::kLeft, 0});
  return columns;
}

std::string TuneTable::line(std::size_t number, const TuneTrial& trial) {
  Table::Cells cells = {std::to_string(number + 1)};
  for (std::size_t i = 0; i < tunables_.size(); ++i)
    cells.push_back(label(tunables_[i].values[trial.point[i]]));
  const std::optional<double> seconds = trial.seconds();
  cells.push_back(seconds ? iteration(*seconds) : "-");
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
    words += fmt::format("\ntrial 1, the nearest to what the experiment has, takes {:.1f} % longer",
                         100 * (*first / least - 1));
  return words + "\n";
}

std::string json(const Tuning& tuning, bool finished) {
  const auto written = [](const SettingsFile& file) {
    return nlohmann::ordered_json::parse(weir::text(file), nullptr, false);
  };
  nlohmann::ordered_json all = {{"weir", tuning.about.weir},
                                {"experiment", tuning.about.experiment},
                                {"set", tuning.about.set},
                                {"strategy", tuning.about.strategy},
                                {"world", tuning.about.world},
                                {"method", tuning.about.method},
                                {"seed", tuning.about.seed},
                                {"finished", finished},
                                {"values", nlohmann::ordered_json::object()}};
  for (const Tunable& tunable : tuning.tunables) {
    nlohmann::ordered_json& values = all["values"][tunable.name] = nlohmann::ordered_json::array();
    for (const Value& value : tunable.values) values.push_back(json(value));
  }
  all["trials"] = nlohmann::ordered_json::array();
  for (const TuneTrial& trial : tuning.trials) {
    nlohmann::ordered_json one = written(settings_at(tuning.tunables, trial.point));
    if (trial.seconds()) {
      one["iteration_ns"] = trial.outcome.row.iteration_ns;
      if (trial.outcome.row.predicted_ns) one["predicted_ns"] = *trial.outcome.row.predicted_ns;
    } else {
      one["why_not"] = trial.outcome.text;
    }
    all["trials"].push_back(std::move(one));
  }
  if (tuning.best) {
    all["best"] = written(tuning.settings());
    all["best"].erase("tuned");
    all["best"]["iteration_ns"] = tuning.trials[*tuning.best].outcome.row.iteration_ns;
    all["best"]["trial"] = *tuning.best + 1;
    all["best"]["within_2_percent"] = tuning.near() + 1;
  }
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weir
