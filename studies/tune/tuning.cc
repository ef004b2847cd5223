#include "studies/tune/tuning.h"

namespace weir {

std::optional<double> TuneTrial::seconds() const {
  if (outcome.kind != Outcome::Kind::kRow || outcome.row.iteration_ns <= 0) return std::nullopt;
  return Duration(outcome.row.iteration_ns).seconds();
}

bool TuneTrial::simulated() const { return outcome.row.label && !outcome.row.predicted_ns; }

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
  const Row& row = trials[*best].outcome.row;
  file.tuned->iteration = Duration(row.iteration_ns);
  if (!trials[*best].simulated()) return file;
  file.tuned->label = row.label;
  file.tuned->label_reason = row.label_reason;
  return file;
}

Result<SettingsFile> Tuning::settings_with(const std::string& file) const {
  SettingsFile tuned = settings();
  if (file.empty()) return tuned;
  const auto given = read_settings(file);
  if (!given) return tl::unexpected(given.error());
  for (const Value::Member& member : given->settings.members()) {
    if (tuned.settings.find(member.name) == nullptr) tuned.settings.append(member.name, member.value);
  }
  for (const auto& [name, member] : kStreams) {
    if (!(tuned.run.*member)) tuned.run.*member = given->run.*member;
  }
  return tuned;
}

}  // namespace weir
