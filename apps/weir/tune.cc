#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <map>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/progress.h"
#include "apps/weir/text/tune_text.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/tune/search.h"
#include "studies/output/files.h"
#include "studies/process/processes.h"
#include "studies/output/shell_word.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

constexpr std::size_t kMostTrials = 10'000;  // as of an experiment's points

struct TuneChoices {
  Input input;
  std::string strategy;
  std::string over;
  tune::Method method = tune::Method::kBayes;
  std::string method_name = "bayes";
  std::optional<std::size_t> trials;
  std::optional<std::size_t> steps;
  std::uint64_t seed = 1;
  std::string output;
  std::string deadline = "3600s";
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool json = false;
  WorldOptions world;
};

// What a search is made of, once all of it is known to be right.
struct Subject {
  ExperimentFile file;
  Experiment experiment;
  std::string strategy;
  std::vector<Tunable> tunables;
  std::size_t trials;
  Duration deadline;  // of each
};

Result<std::string> strategy_of(const TuneChoices& choices, const Experiment& experiment) {
  if (!choices.strategy.empty()) return choices.strategy;
  if (experiment.strategies.size() == 1) return experiment.strategies.front();
  return failure("--strategy: say which one; the experiment has " + quoted(experiment.strategies));
}

// What is varied must not stand fast elsewhere.
Result<void> check_free(const TuneChoices& choices, const Subject& subject) {
  const auto variant = subject.experiment.variants.find(subject.strategy);
  for (const Tunable& tunable : subject.tunables) {
    for (const Setting& setting : subject.file.settings()) {
      for (const std::string& path : paths_in(setting.path)) {
        if (path == tunable.name)
          return failure(fmt::format("--over: {}: it is set already, by --set or --settings", tunable.name));
      }
    }
    if (variant != subject.experiment.variants.end() && variant->second.given.find(tunable.name) != nullptr)
      return failure(
          fmt::format("--over: {}: '{}' gives it itself, and no settings change that; tune '{}', or "
                      "leave it out there",
                      tunable.name, subject.strategy, variant->second.strategy));
    const std::map<std::string, std::string> options = {
        {"channels", "--channels"}, {"io_threads", "--io-threads"}, {"workers", "--workers"}};
    for (const CLI::Option* option : choices.world.of_real_runs) {
      const auto own = options.find(tunable.name);
      if (own != options.end() && option->get_name() == own->second && option->count() > 0)
        return failure(fmt::format("--over: {}: it is set already, by {}", tunable.name, own->second));
    }
  }
  return {};
}

// Every value alone must be one that experiments take.
Result<void> check_values(const Subject& subject) {
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

Result<std::size_t> trials_of(const TuneChoices& choices, const Experiment& experiment,
                              const tune::Space& space) {
  constexpr std::size_t kUsual = 25;
  constexpr std::size_t kMostModelled = 300;  // a model of them takes seconds to make
  const bool grid = choices.method == tune::Method::kGrid;
  if (grid && !choices.trials && !choices.steps && space.size() > kMostTrials)
    return failure(
        fmt::format("--method grid: these are more than {} points; say how many with --trials", kMostTrials));
  std::size_t trials = choices.trials.value_or(grid || choices.steps ? kMostTrials : kUsual);
  if (choices.steps) {
    const auto each =
        static_cast<std::size_t>(experiment.warm_up) + static_cast<std::size_t>(experiment.iterations);
    if (*choices.steps < each)
      return failure(fmt::format("--steps: a trial alone takes {}, warm_up and iterations together", each));
    trials = std::min(trials, *choices.steps / each);
  }
  const bool bayes = choices.method == tune::Method::kBayes;
  // Where the same settings take another time in each run, they may be tried again.
  if (!bayes || choices.world.on == "simulation") trials = std::min(trials, space.size());
  if (!bayes || trials <= kMostModelled) return trials;
  return failure(fmt::format("--trials: {} are more than a model is made of; at most {}, or another --method",
                             trials, kMostModelled));
}

Result<Subject> subject_of(const TuneChoices& choices) {
  auto file = choices.input.read();
  if (!file) return tl::unexpected(file.error());
  if (!file->axes().empty()) {
    std::vector<std::string> paths;
    for (const Axis& axis : file->axes()) paths.push_back(axis.path);
    return failure(
        fmt::format("{}: sweep: it varies {}, and a search is of one point; leave it out with --set "
                    "'sweep={{}}', and --set what it varies",
                    file->name(), quoted(paths)));
  }
  auto experiment = file->experiment({});
  if (!experiment) return tl::unexpected(experiment.error());
  auto strategy = strategy_of(choices, *experiment);
  if (!strategy) return tl::unexpected(strategy.error());
  const auto found = contender(*experiment, *strategy);
  if (!found) return failure("--strategy: " + found.error().text);
  auto those = tunables(choices.over, *experiment, *found, choices.world.on != "simulation");
  if (!those) return tl::unexpected(those.error());
  const auto trials = trials_of(choices, *experiment, space_of(*those));
  if (!trials) return tl::unexpected(trials.error());
  const auto deadline = parse_duration(choices.deadline);
  if (!deadline) return failure("--deadline: " + deadline.error().text);
  if (*deadline <= Duration(0)) return failure("--deadline: expected more than 0s");
  Subject subject{std::move(*file), std::move(*experiment), std::move(*strategy), std::move(*those), *trials,
                  *deadline};
  if (const auto free = check_free(choices, subject); !free) return tl::unexpected(free.error());
  if (const auto right = check_values(subject); !right) return tl::unexpected(right.error());
  return subject;
}

/// Runs what a search asks for, and keeps what comes out.
class Tuner {
 public:
  Tuner(const TuneChoices& choices, const Subject& subject, const World& world, tune::SearchSettings settings)
      : choices_(choices),
        subject_(subject),
        search_(space_of(subject.tunables), std::move(settings)),
        table_(subject.tunables, world.simulated),
        progress_(subject.trials) {
    tuning_.tunables = subject.tunables;
    tuning_.about = {subject.file.name(),
                     choices.input.settings,
                     subject.strategy,
                     world.name,
                     choices.method_name,
                     choices.seed,
                     0,
                     {},
                     std::string(version()),
                     {},
                     {},
                     name_of(subject.experiment.trace)};
    tuning_.began_near = choices.method != tune::Method::kGrid;
  }

  /// Until the search or a signal ends it, or nothing runs.
  Result<std::optional<int>> run() {
    const Signals signals;
    if (!choices_.json) print("{}", table_.header());
    for (std::vector<tune::Point> points = search_.next(); !points.empty(); points = search_.next()) {
      if (const auto signal = run(points, signals)) return signal;
      if (search_.best()) continue;
      return failure("none of the first trials ran: " + tuning_.trials.front().outcome.text);
    }
    return std::optional<int>();
  }

  Tuning tuning() const {
    Tuning tuning = tuning_;
    tuning.best = search_.best();
    return tuning;
  }

 private:
  std::optional<int> run(const std::vector<tune::Point>& points, const Signals& signals) {
    std::vector<std::optional<Outcome>> outcomes(points.size());
    const std::size_t before = tuning_.trials.size();
    std::size_t done = 0;
    const Task task = [&](std::size_t index) {
      return text(guarded([&] { return outcome_of(points[index]); }));
    };
    const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
      outcomes[index] = text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text};
      progress_.clear();
      progress_.show(before + ++done);
    };
    const int jobs = choices_.world.on == "simulation" ? choices_.jobs : 1;
    std::optional<int> signal =
        run_in_processes(points.size(), jobs, task, ended, signals, subject_.deadline);
    progress_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!outcomes[i]) continue;
      tuning_.trials.push_back({points[i], std::move(*outcomes[i])});
      const TuneTrial& trial = tuning_.trials.back();
      search_.tell(points[i], trial.seconds());
      if (!choices_.json) print("{}", table_.line(tuning_.trials.size() - 1, trial));
    }
    std::fflush(stdout);
    return signal ? signal : signals.arrived();
  }

  Outcome outcome_of(const tune::Point& point) const {
    const SettingsFile settings = settings_at(subject_.tunables, point);
    const auto experiment = subject_.file.experiment(settings_of(settings));
    if (!experiment) return {Outcome::Kind::kFailed, {}, experiment.error().text};
    WorldOptions options = choices_.world;
    take(settings.run, options);
    const auto world = world_of(options);
    if (!world) return {Outcome::Kind::kFailed, {}, world.error().text};
    return weir::run({subject_.strategy, experiment->seeds.front(), {}, {}, {}, {}}, *experiment, *world);
  }

  const TuneChoices& choices_;
  const Subject& subject_;
  tune::Search search_;
  TuneTable table_;
  Progress progress_;
  Tuning tuning_;
};

// What was tuned, and what else all trials had of --settings.
Result<SettingsFile> with_given(SettingsFile tuned, const std::string& file) {
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

// The command that runs what was found, in the same world.
std::string run_of_found(const TuneChoices& choices) {
  std::string command =
      fmt::format("weir run {} --settings {}", shell_word(choices.input.file), shell_word(choices.output));
  for (const std::string& one : choices.input.settings) command += " --set " + shell_word(one);
  return command + words(choices.world);
}

Result<ExitStatus> tell(const TuneChoices& choices, const Tuning& tuning, std::optional<int> signal) {
  if (choices.json) {
    print("{}", json(tuning, !signal));
  } else if (tuning.best) {
    print("\n{}", summary(tuning));
  }
  if (tuning.best && !choices.output.empty()) {
    const auto whole = with_given(tuning.settings(), choices.input.settings_file);
    if (!whole) return tl::unexpected(whole.error());
    const auto written = write_text(choices.output, text(*whole));
    if (!written) return tl::unexpected(written.error());
    if (!choices.json) print("{} holds it: {}\n", choices.output, run_of_found(choices));
  }
  if (!signal) return kExitWell;
  print_error("weir tune: interrupted after {} trials\n", tuning.trials.size());
  return 128 + *signal;
}

Result<ExitStatus> tune_experiment(TuneChoices choices) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto streams = choices.input.streams();
  if (!streams) return wrong("tune", streams.error());
  take(*streams, choices.world);
  const auto world = world_of(choices.world);
  if (!world) return wrong("tune", world.error());
  const auto subject = subject_of(choices);
  if (!subject) return wrong("tune", subject.error());
  if (!choices.output.empty()) {
    const auto apart = check_no_input(choices.output, choices.input.files(subject->file));
    if (!apart) return wrong("tune", apart.error());
    if (const auto open = check_writable(choices.output); !open) return tl::unexpected(open.error());
  }
  tell_tuned_for_others("tune", choices.input, {subject->strategy}, name_of(subject->experiment.trace));
  const Options options = contender(subject->experiment, subject->strategy)->options;
  tune::SearchSettings settings{choices.method, subject->trials, choices.seed, !world->simulated,
                                nearest_point(subject->tunables, options, *streams)};
  if (!choices.json) {
    print("{} of {} on {}, {}: at most {} trials among {} settings\n\n", subject->strategy,
          subject->experiment.trace.name, subject->experiment.topology.name, world->name, subject->trials,
          space_of(subject->tunables).size());
  }
  std::fflush(stdout);
  Tuner tuner(choices, *subject, *world, std::move(settings));
  const auto signal = tuner.run();
  if (!signal) return tl::unexpected(signal.error());
  return tell(choices, tuner.tuning(), *signal);
}

void add_search(CLI::App& command, TuneChoices& choices) {
  add_strategy(command, choices.strategy,
               "What to tune, if the experiment has several: a strategy or a variant");
  command
      .add_option("--over", choices.over,
                  "What to vary, with commas between: names, each alone or with its values, as\n"
                  "partition_size=250KB..16MB,credit=1|2|4,local (what usually matters for the strategy)")
      ->type_name("NAMES");
  const std::map<std::string, tune::Method> methods = {
      {"bayes", tune::Method::kBayes}, {"grid", tune::Method::kGrid}, {"random", tune::Method::kRandom}};
  command
      .add_option_function<std::string>(
          "--method",
          [&choices, methods](const std::string& name) {
            choices.method = methods.at(name);
            choices.method_name = name;
          },
          "bayes: where a model of the trials so far expects most improvement; grid: evenly spread; random")
      ->check(CLI::IsMember({"bayes", "grid", "random"}))
      ->default_str("bayes");
  command.add_option("--trials", choices.trials, "At most so many (25; of a grid all points)")
      ->check(CLI::Range(std::size_t{1}, kMostTrials));
  command
      .add_option("--steps", choices.steps, "At most so many iterations in all, those that warm up included")
      ->check(whole_number_from(1));
  command.add_option("--seed", choices.seed, "Of the choice of trials")
      ->check(whole_number_from(0))
      ->capture_default_str();
  command.add_option("--output", choices.output, "A file for the best settings")->type_name("FILE");
  command.add_option("--jobs", choices.jobs, "How many runs at once, where several trials are known ahead")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      .add_option("--deadline", choices.deadline,
                  "What a trial may take; one that takes longer is ended and has failed")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_flag("--json", choices.json, "Prints all trials and the best as JSON");
}

}  // namespace

void add_tune(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand(
      "tune", "Searches partition size, credit and other settings for the shortest iteration");
  const auto choices = std::make_shared<TuneChoices>();
  add_input(*command, choices->input);
  add_search(*command, *choices);
  add_world(*command, choices->world, true);
  command->footer(
      "What can be varied, and between which values if none are given:\n" + tunables_help() +
      "\nOf an experiment's seeds the first is taken; a sweep is left out with --set 'sweep={}'. What is "
      "found is for\nweir run --settings FILE, and for training with WEIR_SETTINGS=FILE.\n\n"
      "Examples:\n"
      "  weir tune experiments/tuning --strategy ps --trials 15 --output settings.json\n"
      "  weir tune experiments/tuning --strategy ps --over partition_size --method grid\n"
      "  weir tune experiments/lab --strategy unified --on lab --steps 60 --over partition_size,credit");
  command->callback([choices, &status] { status = exit_status("tune", tune_experiment(*choices)); });
}

}  // namespace weir
