#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/input.h"
#include "apps/weir/output.h"
#include "apps/weir/plots.h"
#include "apps/weir/processes.h"
#include "apps/weir/result_files.h"
#include "apps/weir/scoreboard.h"
#include "apps/weir/world.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

struct Choices {
  Input input;
  std::string out;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool skip_plots = false;
};

// results/quickstart for experiments/quickstart and for experiments/quickstart.json.
std::string default_folder(const std::string& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  const bool named_by_folder = path.filename() == "experiment.json";
  return (fs::path("results") / (named_by_folder ? path.parent_path().filename() : path.stem())).string();
}

void introduce(const Configuration& configuration, std::size_t runs, const std::string& folder) {
  const Experiment& experiment = configuration.first;
  if (!experiment.question.empty()) print("{}\n", experiment.question);
  print("{} on {}: {} {}, speed-ups over {}, into {}\n\n", names(configuration.traces),
        names(configuration.topologies), runs, runs == 1 ? "run" : "runs", experiment.baseline, folder);
  std::fflush(stdout);
}

Outcome run_one(const ExperimentFile& file, const Run& run, World world) {
  return guarded([&] {
    const auto experiment = file.experiment(file.point(run.point));
    if (!experiment) return Outcome{Outcome::Kind::kFailed, {}, experiment.error().text};
    return weir::run(run.trial, *experiment, world);
  });
}

ExitStatus summarise(const Results& results, std::optional<int> signal, const std::string& folder) {
  const std::size_t rows = results.count(Outcome::Kind::kRow);
  const std::size_t failed = results.count(Outcome::Kind::kFailed);
  if (rows > 0) print("\n{0}/results.csv and {0}/results.json hold the results\n", folder);
  if (signal) {
    print_error("weir run: interrupted: {} of {} runs are done and written\n", results.ended(),
                results.runs().size());
    return 128 + *signal;
  }
  if (failed > 0) {
    print_error("weir run: {} of {} runs failed\n", failed, results.runs().size());
    return kExitFailed;
  }
  if (rows == 0) {
    print_error("weir run: none of the strategies is possible\n");
    return kExitFailed;
  }
  return kExitWell;
}

// All runs, until a signal comes; what has ended by then is in the files when this returns.
Result<std::optional<int>> run_all(const ExperimentFile& file, Results& results, ResultFiles& files,
                                   World world, int jobs) {
  const Signals signals;
  Scoreboard scoreboard(file, results);
  const Task task = [&](std::size_t index) { return text(run_one(file, results.runs()[index], world)); };
  const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
    results.add(index, text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text});
    files.update(results.runs()[index].point);
    scoreboard.update();
  };
  std::optional<int> signal = run_in_processes(results.runs().size(), jobs, task, ended, signals);
  const auto written = files.finish();
  scoreboard.finish();
  if (!written) return tl::unexpected(written.error());
  if (!signal) signal = signals.arrived();
  return signal;
}

Result<ExitStatus> run_experiment(const Choices& choices) {
  // A reader of the table that leaves ends nothing but the table.
  std::signal(SIGPIPE, SIG_IGN);
  const auto world = weir::world();
  if (!world) return tl::unexpected(world.error());
  const auto file = choices.input.read();
  if (!file) return wrong("run", file.error());
  constexpr std::size_t kMany = 1000;
  if (file->points() >= kMany) print_error("weir run: checking {} points first\n", file->points());
  const auto configuration = configuration_of(*file);
  if (!configuration) return wrong("run", configuration.error());
  const std::string folder = choices.out.empty() ? default_folder(file->name()) : choices.out;
  Results results(*file, *configuration, folder);
  ResultFiles files(results, folder);
  if (const auto made = files.prepare(); !made) return tl::unexpected(made.error());

  introduce(*configuration, results.runs().size(), folder);
  const auto signal = run_all(*file, results, files, *world, choices.jobs);
  if (!signal) return tl::unexpected(signal.error());
  const ExitStatus status = summarise(results, *signal, folder);
  if (*signal || choices.skip_plots || results.count(Outcome::Kind::kRow) == 0) return status;
  const auto drawn = draw_plots(folder);
  if (!drawn) return tl::unexpected(drawn.error());
  if (!drawn->empty()) print("{}\n", *drawn);
  return status;
}

}  // namespace

void add_run(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("run", "Compares strategies on a simulated cluster");
  const auto choices = std::make_shared<Choices>();
  add_input(*command, choices->input);
  command->add_option("--out", choices->out,
                      "The folder for results.csv, results.json, timelines and figures\n"
                      "(results/NAME if left out, NAME being that of the experiment)");
  command->add_option("--jobs", choices->jobs, "How many runs at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_flag("--no-plots", choices->skip_plots, "Draw no figures");
  command->footer(
      "Every combination of swept values is run with every strategy and every seed, each in a process of its "
      "own.\n"
      "The table shows for each: the time of an iteration, what of it is communication that no computation "
      "hides,\n"
      "the bytes of the model over the time of communication, what no schedule could beat on this cluster "
      "and how\n"
      "near the run comes to it, the speed-up over the baseline, and the resource that binds the strategy's "
      "plan.\n"
      "Timelines open in chrome://tracing and https://ui.perfetto.dev.\n\n"
      "Examples:\n"
      "  weir run experiments/quickstart\n"
      "  weir run experiments/quickstart --set topology.groups.cpu.count=4 --set partition_size=1MB\n"
      "  weir run mine.json --out /tmp/mine --jobs 1 --set 'strategies=[\"unified\", \"ring\"]'");
  command->callback([choices, &status] { status = exit_status("run", run_experiment(*choices)); });
}

}  // namespace weir
