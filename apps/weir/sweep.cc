#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/environment.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/progress.h"
#include "apps/weir/text/sweep_text.h"
#include "core/base/units_text.h"
#include "studies/sweep/sweep_share.h"
#include "studies/sweep/sweep_status.h"

namespace weir {
namespace {

struct SweepChoices {
  Input input;
  SweepSettings settings;
  std::string share;
  std::string deadline = "3600s";
  std::string file;  // the file that --export writes
  bool status = false;
  SimulationOptions simulation;
};

Studied<ExitStatus> compute(const SweepChoices& choices, const ExperimentFile& file, const World& world) {
  const SweepSettings& settings = choices.settings;
  const bool shows = settings.share.index == 0;
  constexpr std::size_t kMany = 1000;
  if (shows && file.points() >= kMany) print_error("weir sweep: checking {} points first\n", file.points());
  std::optional<Progress> progress;
  SweepEvents events;
  events.begun = [&](const Design& design, std::size_t left) {
    if (!shows) return;
    warn_tuned_for_others("sweep", choices.input, design.study.strategies, names(design.study.traces));
    introduce_share(settings, design, left);
    if (left > 0) progress.emplace(left);
  };
  events.ended = [&](const StoredResult& result, const std::string& name, std::size_t ended) {
    if (progress) progress->clear();
    if (!result.settled()) print_error("weir sweep: {}: {}\n", name, result.outcome.text);
    if (progress) progress->show(ended);
  };
  const auto result = compute_share(file, world, settings, events);
  if (progress) progress->clear();
  if (!result) return tl::unexpected(result.error());
  return conclude_share(settings.share, *result);
}

Studied<ExitStatus> sweep(SweepChoices choices) {
  std::signal(SIGPIPE, SIG_IGN);
  SweepSettings& settings = choices.settings;
  if (choices.status) {
    const auto status = sweep_status(settings.folder);
    if (!status) return wrong_input(status.error());
    return show_status(*status);
  }
  if (!choices.file.empty()) {
    if (const auto exported = export_sweep(settings.folder, choices.file); !exported)
      return tl::unexpected(exported.error());
    return kExitWell;
  }
  if (choices.input.file.empty())
    return wrong_input("an experiment file is needed, except with --status and --export");
  const auto deadline = parse_duration(choices.deadline);
  if (!deadline) return wrong_input("--deadline: " + deadline.error().text);
  if (*deadline <= Duration(0)) return wrong_input("--deadline: expected more than 0s");
  settings.deadline = *deadline;
  const auto share = share_of(environment, choices.share);
  if (!share) return wrong_input(share.error());
  settings.share = *share;
  const auto world = simulated_world(choices.simulation);
  if (!world) return wrong_input(world.error());
  const auto file = choices.input.read();
  if (!file) return wrong_input(file.error());
  return compute(choices, *file, *world);
}

}  // namespace

void add_sweep(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("sweep", "Runs all points of an experiment, on one machine or many, resumably");
  const auto choices = std::make_shared<SweepChoices>();
  choices->settings.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  add_input(*command, choices->input);
  command->get_option("experiment")->required(false);
  command
      ->add_option("--results", choices->settings.folder,
                   "The folder for results. Those that are there already are not computed again, whichever\n"
                   "design they were computed for")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--jobs", choices->settings.jobs, "How many runs at once in this process's share")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--deadline", choices->deadline,
                   "What a run may take; one that takes longer is ended and has failed")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_flag("--retry", choices->settings.retry,
                    "Computes runs again that failed, crashed or were late in an earlier sweep");
  command
      ->add_option(
          "--share", choices->share,
          "What this process computes, as 1/3 for the first third; if left out, what Open MPI, MPICH\n"
          "or Slurm (srun, job arrays) say, or everything")
      ->type_name("INDEX/COUNT");
  CLI::Option* asks = command->add_flag("--status", choices->status,
                                        "Tells how far the sweep in the folder is, and who is at work there");
  command
      ->add_option(
          "--export", choices->file,
          "Writes what there is: a table if the name ends in .csv, all as weir run does if in .json,\n"
          "one SQLite database if in .db")
      ->excludes(asks)
      ->type_name("FILE");
  add_engine(*command, choices->simulation);
  command->footer(
      "Points are those of the experiment's 'sweep' and 'samples'. Each of their strategies and seeds is a "
      "run, "
      "in a\n"
      "process of its own; one that crashes or takes too long is recorded and stops nothing. Results stay "
      "under a\n"
      "hash of all that they depend on, this program too: the same command goes on where it was killed, and "
      "a "
      "larger\n"
      "design computes what is new. weir report draws them, also while the sweep runs.\n\n"
      "Examples:\n"
      "  weir sweep experiments/sensitivity --results results/sensitivity\n"
      "  mpirun -np 8 weir sweep mine.json --results /shared/mine --jobs 1\n"
      "  sbatch --array=0-9 --wrap 'weir sweep mine.json --results /shared/mine'\n"
      "  weir sweep --status --results /shared/mine");
  command->callback([choices, &status] { status = exit_status("sweep", sweep(*choices)); });
}

}  // namespace weir
