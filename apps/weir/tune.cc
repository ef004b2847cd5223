#include "studies/tune/tune.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/choice.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/tune_text.h"
#include "core/base/units_text.h"
#include "studies/output/files.h"
#include "studies/output/shell_word.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

struct TuneChoices {
  Input input;
  TuneSettings settings;
  std::string output;
  std::string deadline = "3600s";
  bool json = false;
  const CLI::Option* jobs = nullptr;
  WorldOptions world;
};

constexpr SettingOption kTuneOptions[] = {{"strategy", "--strategy"},
                                          {"over", "--over"},
                                          {"method", "--method"},
                                          {"trials", "--trials"},
                                          {"steps", "--steps"}};

// The command line that runs the best settings in the same world.
std::string run_of_found(const TuneChoices& choices) {
  std::string command =
      fmt::format("weir run {} --settings {}", shell_word(choices.input.file), shell_word(choices.output));
  for (const std::string& one : choices.input.settings) command += " --set " + shell_word(one);
  return command + words(choices.world);
}

Studied<ExitStatus> show_tuning(const TuneChoices& choices, const Tuning& tuning) {
  if (choices.json) {
    print("{}", json(tuning));
  } else if (tuning.best) {
    print("\n{}", summary(tuning));
  }
  if (tuning.best && !choices.output.empty()) {
    const auto whole = tuning.settings_with(choices.input.settings_file);
    if (!whole) return tl::unexpected(StudyError(whole.error()));
    const auto written = write_text(choices.output, text(*whole));
    if (!written) return tl::unexpected(StudyError(written.error()));
    if (!choices.json) print("{} holds it: {}\n", choices.output, run_of_found(choices));
  }
  if (!tuning.signal) return kExitWell;
  print_error("weir tune: interrupted after {} trials\n", tuning.trials.size());
  return 128 + *tuning.signal;
}

Studied<ExitStatus> find_settings(TuneChoices choices) {
  std::signal(SIGPIPE, SIG_IGN);
  TuneSettings& settings = choices.settings;
  const auto streams = choices.input.streams();
  if (!streams) return wrong_input(streams.error());
  settings.streams = *streams;
  settings.fixed = given_streams(choices.world);
  settings.set = choices.input.settings;
  take(*streams, choices.world);
  const auto world = world_of(choices.world);
  if (!world) return wrong_input(world.error());
  auto file = choices.input.read();
  if (!file) return wrong_input(file.error());
  const auto deadline = parse_duration(choices.deadline);
  if (!deadline) return wrong_input("--deadline: " + deadline.error().text);
  if (*deadline <= Duration(0)) return wrong_input("--deadline: expected more than 0s");
  settings.deadline = *deadline;
  const auto subject = TuneSubject::of(std::move(*file), settings, world->simulated);
  if (!subject) return wrong_input(with_options(subject.error(), kTuneOptions));
  if (!choices.output.empty()) {
    const auto apart = check_no_input(choices.output, choices.input.files(subject->file));
    if (!apart) return wrong_input(apart.error());
    if (const auto open = check_writable(choices.output); !open)
      return tl::unexpected(StudyError(open.error()));
  }
  warn_tuned_for_others("tune", choices.input, {subject->strategy}, name_of(subject->experiment.trace));
  const auto world_with = [&](const Streams& own) {
    WorldOptions options = choices.world;
    take(own, options);
    return world_of(options);
  };
  TuneScreen screen(*subject, *world, !choices.json);
  const auto tuning = tune_experiment(*subject, settings, world_with, screen.events());
  screen.finish();
  if (!tuning) return tl::unexpected(StudyError(tuning.error()));
  return show_tuning(choices, *tuning);
}

void add_search(CLI::App& command, TuneChoices& choices) {
  add_strategy(command, choices.settings.strategy,
               "What to tune, if the experiment has several: a strategy or a variant");
  command
      .add_option("--over", choices.settings.over,
                  "What to vary, separated by commas: names, with or without values, such as\n"
                  "partition_size=250KB..16MB,credit=1|2|4,local (what usually matters for the strategy)")
      ->check(not_empty("names of what to vary"))
      ->type_name("NAMES");
  add_choice(command, "--method", choices.settings.method,
             "bayes: a model of earlier trials picks the next; grid: evenly spaced; random");
  command.add_option("--trials", choices.settings.trials, "The most trials (25; for a grid all points)")
      ->check(CLI::Range(std::size_t{1}, kMostTrials));
  command
      .add_option("--steps", choices.settings.steps,
                  "The most iterations of all trials together, including warm-up")
      ->check(whole_number_from(1));
  command.add_option("--seed", choices.settings.seed, "Seed for the choice of trials")
      ->check(whole_number_from(0))
      ->capture_default_str();
  command.add_option("--output", choices.output, "A file for the best settings")
      ->check(not_empty("a file"))
      ->type_name("FILE");
  choices.jobs = command
                     .add_option("--jobs", choices.settings.jobs,
                                 "How many simulations at once, if several trials are known in advance")
                     ->check(CLI::Range(1, 4096))
                     ->capture_default_str();
  command
      .add_option("--deadline", choices.deadline,
                  "How long a trial may take; a longer trial is ended and counts as failed")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_flag("--json", choices.json, "Prints all trials and the best as JSON");
}

}  // namespace

void add_tune(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand(
      "tune", "Searches partition size, credit and other settings for the shortest iteration");
  const auto choices = std::make_shared<TuneChoices>();
  choices->settings.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  add_input(*command, choices->input);
  add_search(*command, *choices);
  add_world(*command, choices->world, true);
  choices->world.of_simulation.push_back(choices->jobs);
  command->footer(
      "What can be varied, and the values that are tried if none are given:\n" + tunables_help() +
      "\nUses the first of an experiment's seeds. --set 'sweep={}' leaves out a sweep. To use the best\n"
      "settings: weir run --settings FILE, or WEIR_SETTINGS=FILE for training.\n\n"
      "Examples:\n"
      "  weir tune experiments/tuning --strategy ps --trials 15 --output settings.json\n"
      "  weir tune experiments/tuning --strategy ps --over partition_size --method grid\n"
      "  weir tune experiments/lab --strategy unified --on lab --steps 60 --over partition_size,credit");
  command->callback([choices, &status] { status = exit_status("tune", find_settings(*choices)); });
}

}  // namespace weir
