#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/run_text.h"
#include "apps/weir/text/scoreboard.h"
#include "studies/output/files.h"
#include "studies/run/experiment_run.h"
#include "studies/run/plots.h"
#include "studies/run/suite.h"

namespace weir {
namespace {

struct RunChoices {
  Input input;
  RunSettings settings;
  std::string out;
  std::string page;
  bool skip_plots = false;
  WorldOptions world;
};

// The result of one experiment.
struct Ran {
  ExitStatus status = kExitWell;
  bool interrupted = false;
  std::vector<Comparison> compared;
};

Result<Ran> run_experiment(const SuiteExperiment& one, const RunChoices& choices, const World& world) {
  RunSettings settings = choices.settings;
  settings.folder = one.folder;
  const auto experiment = ExperimentRun::begin(one.file, one.configuration, world, std::move(settings));
  if (!experiment) return tl::unexpected(experiment.error());
  const Results& results = (*experiment)->results();
  introduce_run(one.configuration, results.runs().size(), one.folder);
  Scoreboard scoreboard(one.file, results);
  const auto signal = (*experiment)->run([&] { scoreboard.update(); });
  scoreboard.finish();
  if (!signal) return tl::unexpected(signal.error());
  const ExitStatus status = conclude_run(results, *signal, one.folder);
  auto compared = (*experiment)->compare(one.name);
  if (!compared) return tl::unexpected(compared.error());
  Ran ran{status, signal->has_value(), std::move(*compared)};
  if (*signal || choices.skip_plots || results.count(Outcome::Kind::kRow) == 0) return ran;
  const auto drawn = draw_plots(one.folder);
  if (!drawn) return tl::unexpected(drawn.error());
  if (!drawn->empty()) print("{}\n", *drawn);
  return ran;
}

Result<ExitStatus> run_all(const char* command, const std::vector<SuiteExperiment>& suite,
                           const RunChoices& choices, const World& world) {
  ExitStatus status = kExitWell;
  std::vector<Comparison> all;
  for (const SuiteExperiment& one : suite) {
    if (suite.size() > 1) print("{}== {}\n", &one == &suite.front() ? "" : "\n", one.name);
    warn_tuned_for_others(command, choices.input, one.configuration.first.strategies,
                          names(one.configuration.traces));
    auto ran = run_experiment(one, choices, world);
    if (!ran) return tl::unexpected(ran.error());
    status = std::max(status, ran->status);
    if (ran->interrupted) return status;
    all.insert(all.end(), ran->compared.begin(), ran->compared.end());
  }
  if (!choices.page.empty()) {
    const auto written = write_text(choices.page, markdown(all));
    if (!written) return tl::unexpected(written.error());
  }
  return std::max(status, show_published(all));
}

Studied<ExitStatus> run_experiments(const char* command, const RunChoices& choices) {
  // If the reader of the table leaves, the runs go on without it.
  std::signal(SIGPIPE, SIG_IGN);
  const auto streams = choices.input.streams();
  if (!streams) return wrong_input(streams.error());
  WorldOptions options = choices.world;
  take(*streams, options);
  const auto world = world_of(options);
  if (!world) return wrong_input(world.error());
  const auto suite = read_suite(choices.input, choices.out,
                                [&](const std::string& line) { print_error("weir run: {}\n", line); });
  if (!suite) return wrong_input(suite.error());
  // The check is left out if the folder does not exist yet: the run may create it.
  if (!choices.page.empty() &&
      std::filesystem::exists(std::filesystem::absolute(choices.page).parent_path())) {
    if (const auto open = check_writable(choices.page); !open) return tl::unexpected(open.error());
  }
  const auto status = run_all(command, *suite, choices, *world);
  if (!status) return tl::unexpected(status.error());
  return *status;
}

// Adds a command that runs experiments, with its options. `on` is the default place to run.
CLI::App* add_command(CLI::App& weir, ExitStatus& status, const char* name, const char* about,
                      const char* on) {
  CLI::App* command = weir.add_subcommand(name, about);
  const auto choices = std::make_shared<RunChoices>();
  choices->world.on = on;
  choices->settings.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  add_input(*command, choices->input);
  command
      ->add_option("--out", choices->out,
                   "The folder for results.csv, results.json, timelines and figures\n"
                   "(results/NAME if left out, where NAME is the experiment's name)")
      ->check(not_empty("a folder"));
  const CLI::Option* jobs =
      command->add_option("--jobs", choices->settings.jobs, "How many simulations at once")
          ->check(CLI::Range(1, 4096))
          ->capture_default_str();
  command
      ->add_option("--page", choices->page,
                   "A file for the comparison with published values, as tables in Markdown")
      ->check(not_empty("a file"))
      ->type_name("FILE");
  command->add_flag("--no-plots", choices->skip_plots, "Draw no figures");
  command->add_flag(
      "--records", choices->settings.records,
      "Keep the record of each run, which weir compare reads: when each op of each iteration was\n"
      "submitted, started and completed (24 bytes for each)");
  add_world(*command, choices->world, choices->world.on == "simulation");
  choices->world.of_simulation.push_back(jobs);
  command->callback(
      [choices, name, &status] { status = exit_status(name, run_experiments(name, *choices)); });
  return command;
}

}  // namespace

void add_run(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      add_command(weir, status, "run", "Compares strategies on a cluster, simulated or real", "simulation");
  command->footer(
      "Runs every combination of swept values with every strategy and every seed, each in its own process.\n"
      "The table shows for each run: the time of an iteration; the part of it that is communication not\n"
      "hidden by computation; the bytes of the model over the time of communication (goodput); the time\n"
      "that no schedule beats on this cluster (bound), and how near the run comes to it; the speed-up over\n"
      "the baseline; and the plan's bottleneck. Runs of the strategies in 'timelines'\n"
      "are drawn for chrome://tracing and https://ui.perfetto.dev. A folder without experiment.json is a\n"
      "suite: all experiments below it are run. If an experiment has published values, a table at the end\n"
      "compares them with the results; the exit status is 0 only if all are met.\n\n"
      "Examples:\n"
      "  weir run experiments/quickstart\n"
      "  weir run experiments/quickstart --set topology.groups.cpu.count=4 --set partition_size=1MB\n"
      "  weir run experiments/quickstart --set 'timelines=[\"unified\", \"ring\"]'\n"
      "  weir run mine.json --out /tmp/mine --jobs 1 --set 'strategies=[\"unified\", \"ring\"]'");
}

void add_launch(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = add_command(
      weir, status, "launch", "Runs experiments on the hosts of a cluster: weir run --on cluster", "cluster");
  command->footer(
      "Starts a node by ssh on each host in a file. All of them end with this command. weir run --help\n"
      "explains all options.\n\n"
      "Example:\n"
      "  weir launch mine.json --hosts hosts.txt --listen 10.0.0.1");
}

}  // namespace weir
