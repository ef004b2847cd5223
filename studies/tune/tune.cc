#include "studies/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/base/version.h"
#include "core/tune/search.h"
#include "studies/process/processes.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

Result<std::string> strategy_of(const TuneSettings& settings, const Experiment& experiment) {
  if (settings.strategy) return *settings.strategy;
  if (experiment.strategies.size() == 1) return experiment.strategies.front();
  return failure("strategy: choose one; the experiment has " + quoted(experiment.strategies));
}

// Checks that nothing that is varied is fixed elsewhere.
Result<void> check_free(const TuneSettings& settings, const TuneSubject& subject) {
  const auto variant = subject.experiment.variants.find(subject.strategy);
  for (const Tunable& tunable : subject.tunables) {
    for (const Setting& setting : subject.file.settings()) {
      for (const std::string& path : paths_in(setting.path)) {
        if (path == tunable.name)
          return failure(fmt::format("over: {}: the input sets it already", tunable.name));
      }
    }
    if (variant != subject.experiment.variants.end() && variant->second.given.find(tunable.name) != nullptr)
      return failure(
          fmt::format("over: {}: '{}' sets it itself, and settings cannot change that; tune '{}', or "
                      "remove it from the variant",
                      tunable.name, subject.strategy, variant->second.strategy));
    if (const auto own = settings.fixed.find(tunable.name); own != settings.fixed.end())
      return failure(fmt::format("over: {}: it is set already, by {}", tunable.name, own->second));
  }
  return {};
}

// Checks that experiments accept each value by itself.
Result<void> check_values(const TuneSubject& subject) {
  const tune::Point first(subject.tunables.size(), 0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    tune::Point point = first;
    for (point[i] = 0; point[i] < subject.tunables[i].values.size(); ++point[i]) {
      const auto experiment = subject.file.experiment(settings_of(settings_at(subject.tunables, point)));
      if (!experiment) return tl::unexpected(experiment.error());
    }
  }
  return {};
}

Result<std::size_t> trials_of(const TuneSettings& settings, const Experiment& experiment,
                              const tune::Space& space, bool simulated) {
  constexpr std::size_t kUsual = 25;
  constexpr std::size_t kMostModelled = 300;  // a model of that many takes seconds
  const bool grid = settings.method == tune::Method::kGrid;
  if (grid && !settings.trials && !settings.steps && space.size() > kMostTrials)
    return failure(fmt::format("method: a grid of these has more than {} points; limit the number of trials",
                               kMostTrials));
  std::size_t trials = settings.trials.value_or(grid || settings.steps ? kMostTrials : kUsual);
  if (settings.steps) {
    const auto each =
        static_cast<std::size_t>(experiment.warm_up) + static_cast<std::size_t>(experiment.iterations);
    if (*settings.steps < each)
      return failure(fmt::format("steps: a single trial takes {}, warm_up and iterations together", each));
    trials = std::min(trials, *settings.steps / each);
  }
  const bool bayes = settings.method == tune::Method::kBayes;
  // If the same settings take a different time in each run, they may be tried again.
  if (!bayes || simulated) trials = std::min(trials, space.size());
  if (!bayes || trials <= kMostModelled) return trials;
  return failure(fmt::format("trials: {} are too many for bayes; at most {}, or choose another method",
                             trials, kMostModelled));
}

/// Runs the trials of a search, and keeps their results.
class Tuner {
 public:
  Tuner(const TuneSubject& subject, const TuneSettings& settings, const WorldWith& world_with,
        const World& world, const TuneEvents& events)
      : subject_(subject),
        settings_(settings),
        world_with_(world_with),
        jobs_(world.simulated ? settings.jobs : 1),
        events_(events),
        search_(space_of(subject.tunables), search_settings(subject, settings, world)) {
    tuning_.tunables = subject.tunables;
    tuning_.about = {subject.file.name(),
                     settings.set,
                     subject.strategy,
                     world.name,
                     std::string(enum_name(settings.method)),
                     settings.seed,
                     0,
                     {},
                     std::string(version()),
                     {},
                     {},
                     name_of(subject.experiment.trace)};
    tuning_.began_near = settings.method != tune::Method::kGrid;
  }

  Result<Tuning> run() {
    const Signals signals;
    for (std::vector<tune::Point> points = search_.next(); !points.empty(); points = search_.next()) {
      tuning_.signal = run(points, signals);
      if (tuning_.signal) break;
      if (search_.best()) continue;
      return failure("none of the first trials ran: " + tuning_.trials.front().outcome.text);
    }
    tuning_.best = search_.best();
    return tuning_;
  }

 private:
  static tune::SearchSettings search_settings(const TuneSubject& subject, const TuneSettings& settings,
                                              const World& world) {
    const Options options = contender(subject.experiment, subject.strategy)->options;
    return {settings.method, subject.trials, settings.seed, !world.simulated,
            nearest_point(subject.tunables, options, settings.streams)};
  }

  std::optional<int> run(const std::vector<tune::Point>& points, const Signals& signals) {
    std::vector<std::optional<Outcome>> outcomes(points.size());
    const std::size_t before = tuning_.trials.size();
    std::size_t done = 0;
    const Task task = [&](std::size_t index) {
      return text(guarded([&] { return outcome_of(points[index]); }));
    };
    const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
      outcomes[index] = text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text};
      ++done;
      if (events_.ended) events_.ended(before + done);
    };
    const std::optional<int> signal =
        run_in_processes(points.size(), jobs_, task, ended, signals, settings_.deadline);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!outcomes[i]) continue;
      tuning_.trials.push_back({points[i], std::move(*outcomes[i])});
      const TuneTrial& trial = tuning_.trials.back();
      search_.add_attempt(points[i], trial.seconds());
      if (events_.trial) events_.trial(tuning_.trials.size() - 1, trial);
    }
    return signal ? signal : signals.arrived();
  }

  Outcome outcome_of(const tune::Point& point) const {
    const SettingsFile own = settings_at(subject_.tunables, point);
    const auto experiment = subject_.file.experiment(settings_of(own));
    if (!experiment) return {Outcome::Kind::kFailed, {}, experiment.error().text};
    Streams streams = settings_.streams;
    for (const auto& [name, member] : kStreams) {
      if (own.run.*member) streams.*member = own.run.*member;
    }
    const auto world = world_with_(streams);
    if (!world) return {Outcome::Kind::kFailed, {}, world.error().text};
    return weir::run({subject_.strategy, experiment->seeds.front(), {}, {}, {}, {}}, *experiment, *world);
  }

  const TuneSubject& subject_;
  const TuneSettings& settings_;
  const WorldWith& world_with_;
  int jobs_;
  const TuneEvents& events_;
  tune::Search search_;
  Tuning tuning_;
};

}  // namespace

Result<TuneSubject> TuneSubject::of(ExperimentFile file, const TuneSettings& settings, bool simulated) {
  if (!file.axes().empty()) {
    std::vector<std::string> paths;
    for (const Axis& axis : file.axes()) paths.push_back(axis.path);
    return failure(fmt::format(
        "{}: sweep: it varies {}, but a search needs a single point; set sweep={{}}, and set these "
        "paths",
        file.name(), quoted(paths)));
  }
  auto experiment = file.experiment({});
  if (!experiment) return tl::unexpected(experiment.error());
  auto name = strategy_of(settings, *experiment);
  if (!name) return tl::unexpected(name.error());
  const auto found = contender(*experiment, *name);
  if (!found) return failure("strategy: " + found.error().text);
  auto those = weir::tunables(settings.over, *experiment, *found, !simulated);
  if (!those) return tl::unexpected(those.error());
  const auto count = trials_of(settings, *experiment, space_of(*those), simulated);
  if (!count) return tl::unexpected(count.error());
  TuneSubject subject{std::move(file), std::move(*experiment), std::move(*name), std::move(*those), *count};
  if (const auto free = check_free(settings, subject); !free) return tl::unexpected(free.error());
  if (const auto right = check_values(subject); !right) return tl::unexpected(right.error());
  return subject;
}

Result<Tuning> tune_experiment(const TuneSubject& subject, const TuneSettings& settings,
                               const WorldWith& world_with, const TuneEvents& events) {
  const auto world = world_with(settings.streams);
  if (!world) return tl::unexpected(world.error());
  return Tuner(subject, settings, world_with, *world, events).run();
}

}  // namespace weir
