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

constexpr SettingOption kSweepOptions[] = {{"share", "--share"}, {"precision", "--precision"}};

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
    return wrong_input("the experiment file is missing; only --status and --export need none");
  const auto deadline = parse_duration(choices.deadline);
  if (!deadline) return wrong_input("--deadline: " + deadline.error().text);
  if (*deadline <= Duration(0)) return wrong_input("--deadline: expected more than 0s");
  settings.deadline = *deadline;
  const auto share = share_of(environment, choices.share);
  if (!share) return wrong_input(with_options(share.error(), kSweepOptions));
  settings.share = *share;
  const auto world = simulated_world(choices.simulation);
  if (!world) return wrong_input(with_options(world.error(), kSweepOptions));
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
                   "The folder for results. Results that it already holds are not computed again, even if\n"
                   "another experiment file produced them")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--jobs", choices->settings.jobs, "How many runs at once in this process's share")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--deadline", choices->deadline,
                   "How long a run may take; a longer run is ended and counts as failed")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_flag("--retry", choices->settings.retry,
                    "Repeats runs that failed, crashed or were late in an earlier sweep");
  command
      ->add_option(
          "--share", choices->share,
          "The part that this process computes: 1/3 is the first third (default: taken from Open MPI,\n"
          "MPICH, srun or a Slurm job array; else everything)")
      ->type_name("INDEX/COUNT");
  CLI::Option* asks = command->add_flag("--status", choices->status,
                                        "Shows how far the sweep in the folder is, and who is at work there");
  command
      ->add_option(
          "--export", choices->file,
          "Writes the results so far: a table to a .csv file, everything that weir run writes to a .json\n"
          "file, or an SQLite database to a .db file")
      ->excludes(asks)
      ->type_name("FILE");
  add_engine(*command, choices->simulation);
  command->footer(
      "Points are those of the experiment's 'sweep' and 'samples'. Every strategy and seed of a point is a\n"
      "run, in its own process. A run that crashes or takes too long is recorded; the others continue.\n"
      "Results are stored under a hash of everything that they depend on, including this program. If a\n"
      "sweep was killed, the same command continues it. A larger design computes only what is new. weir\n"
      "report draws results, also while the sweep runs.\n\n"
      "Examples:\n"
      "  weir sweep experiments/sensitivity --results results/sensitivity\n"
      "  mpirun -np 8 weir sweep mine.json --results /shared/mine --jobs 1\n"
      "  sbatch --array=0-9 --wrap 'weir sweep mine.json --results /shared/mine'\n"
      "  weir sweep --status --results /shared/mine");
  command->callback([choices, &status] { status = exit_status("sweep", sweep(*choices)); });
}

}  // namespace weir
