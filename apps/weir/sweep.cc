#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/environment.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/sweep_status.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/progress.h"
#include "core/base/hash.h"
#include "core/base/units_text.h"
#include "studies/process/processes.h"
#include "studies/sweep/active_workers.h"
#include "studies/sweep/run_key.h"
#include "studies/sweep/share.h"
#include "studies/sweep/sweep_folder.h"

namespace weir {
namespace {

struct SweepChoices {
  Input input;
  std::string folder;
  std::string share;
  std::string deadline = "3600s";
  std::string file;  // to export into
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool retry = false;
  bool status = false;
  SimulationOptions simulation;
};

// The part of a sweep that is this process's: its runs, computed one process each, into its database.
class Computation {
 public:
  Computation(const ExperimentFile& file, const World& world, const Results& results, const Design& design,
              std::vector<std::size_t> runs, const std::string& host)
      : file_(file), world_(world), results_(results), design_(design), runs_(std::move(runs)), host_(host) {}

  // Until all have ended, a signal comes, or what came of one cannot be written, which is an error.
  Result<std::optional<int>> run(ResultStore& into, ActiveWorker& active, int jobs, Duration deadline,
                                 bool shows) {
    const Signals signals;
    std::optional<Progress> progress;
    if (shows) progress.emplace(runs_.size());
    const auto keep = [&](const Result<void>& written) {
      if (!written && written_) written_ = written;
    };
    const Task task = [&](std::size_t i) { return text(run_one(file_, results_.runs()[runs_[i]], world_)); };
    const Watch watch{.deadline = deadline,
                      .started =
                          [&](std::size_t i) {
                            began_[i] = utc_now();
                            keep(into.begin(design_.keys[runs_[i]]));
                          },
                      .ended =
                          [&](std::size_t i, const Ending& ending) {
                            const StoredResult stored_result = stored_result_of(i, ending);
                            keep(into.add(stored_result));
                            ++counts_[stored_result.status];
                            ++ended_;
                            if (progress) progress->clear();
                            if (!stored_result.settled()) tell(stored_result, i);
                            if (progress) progress->show(ended_);
                          },
                      .goes_on =
                          [&] {
                            active.beat();
                            return written_.has_value();
                          }};
    std::optional<int> signal = run_watched(runs_.size(), jobs, task, watch, signals);
    if (progress) progress->clear();
    if (!written_) return tl::unexpected(written_.error());
    return signal ? signal : signals.arrived();
  }

  std::size_t ended() const { return ended_; }
  std::size_t failed() const {
    std::size_t count = 0;
    for (const auto& [status, number] : counts_)
      if (status != StoredResult::Status::kDone && status != StoredResult::Status::kImpossible)
        count += number;
    return count;
  }

 private:
  StoredResult stored_result_of(std::size_t i, const Ending& ending) {
    const Run& run = results_.runs()[runs_[i]];
    StoredResult stored_result;
    stored_result.key = design_.keys[runs_[i]];
    stored_result.point = design_.study.label(run.point);
    stored_result.program = design_.program;
    stored_result.host = host_;
    stored_result.began = began_[i];
    stored_result.seconds = ending.took.seconds();
    stored_result.errors = ending.errors;
    stored_result.signal = ending.signal;
    if (ending.text) {
      stored_result.outcome = outcome_from(*ending.text);
      stored_result.status = stored_result.outcome.kind == Outcome::Kind::kRow ? StoredResult::Status::kDone
                             : stored_result.outcome.kind == Outcome::Kind::kImpossible
                                 ? StoredResult::Status::kImpossible
                                 : StoredResult::Status::kFailed;
    } else {
      stored_result.outcome = {Outcome::Kind::kFailed, {}, ending.text.error().text};
      stored_result.status = ending.late ? StoredResult::Status::kLate : StoredResult::Status::kCrashed;
    }
    stored_result.outcome.row.strategy = run.trial.strategy;
    stored_result.outcome.row.seed = run.trial.seed;
    return stored_result;
  }

  void tell(const StoredResult& stored_result, std::size_t i) const {
    print_error("weir sweep: {}: {}\n", results_.name(results_.runs()[runs_[i]]), stored_result.outcome.text);
  }

  const ExperimentFile& file_;
  const World& world_;
  const Results& results_;
  const Design& design_;
  std::vector<std::size_t> runs_;
  std::string host_;
  std::map<std::size_t, std::string> began_;
  std::map<StoredResult::Status, std::size_t> counts_;
  std::size_t ended_ = 0;
  Result<void> written_;
};

// What a share has to do.
struct Left {
  std::vector<std::size_t> runs;  // that have not been computed; with retry also those that came to nothing
  std::size_t failed = 0;         // that came to nothing earlier, and are left so
};

Left left_of(const Design& design, const Share& share, const SweepResults& stored, bool retry) {
  const std::vector<std::size_t> all = design.distinct();
  std::vector<std::string> keys;
  for (const std::size_t run : all) keys.push_back(design.keys[run]);
  Left left;
  for (const std::size_t position : taken(share, keys)) {
    const auto found = stored.found.find(keys[position]);
    const bool known = found != stored.found.end();
    if (!known || (retry && !found->second.settled())) {
      left.runs.push_back(all[position]);
    } else if (!found->second.settled()) {
      ++left.failed;
    }
  }
  return left;
}

// Engines end all processes once one ends with another status than 0, so shares always end with that.
ExitStatus conclude(const Share& share, std::size_t failed) {
  if (failed == 0) return kExitWell;
  print_error("weir sweep: {} {} of share {} failed; --status counts them, --retry computes them again\n",
              failed, failed == 1 ? "run" : "runs", text(share));
  return share == Share{} ? kExitFailed : kExitWell;
}

Result<ExitStatus> compute(const SweepChoices& choices, const ExperimentFile& file, const World& world,
                           const Share& share, Duration deadline) {
  constexpr std::size_t kMany = 1000;
  if (share.index == 0 && file.points() >= kMany)
    print_error("weir sweep: checking {} points first\n", file.points());
  const auto design = design_of(file, world);
  if (!design) return wrong("sweep", design.error());
  if (const auto made = SweepFolder::make(choices.folder); !made) return tl::unexpected(made.error());
  const std::string written_design = text(*design);
  const Worker self = this_worker(share, choices.jobs, hash_of(written_design));
  const auto active = ActiveWorker::enter(choices.folder, self);
  if (!active) return wrong("sweep", active.error());
  if (const auto written = SweepFolder::write(choices.folder, written_design); !written)
    return tl::unexpected(written.error());
  const auto stored = SweepResults::read(choices.folder, [&] { (*active)->beat(); });
  if (!stored) return tl::unexpected(stored.error());
  if (const auto whole = stored->whole(); !whole) {
    return failure(
        fmt::format("{}\nwhat these files hold would be computed again; mend what is wrong, or move "
                    "them away",
                    whole.error().text));
  }

  const auto& [runs, failed] = left_of(*design, share, *stored, choices.retry);
  const Results results(design->study, choices.folder, design->keys);
  if (share.index == 0) {
    tell_tuned_for_others("sweep", choices.input, design->study.strategies, names(design->study.traces));
    print_error("weir sweep: share {}: {} points, {} runs, of which {} {} to be computed here; into {}\n",
                text(share), design->study.points.size(), design->keys.size(), runs.size(),
                runs.size() == 1 ? "is" : "are", choices.folder);
  }
  if (runs.empty()) return conclude(share, failed);
  const auto into = ResultStore::make(choices.folder, self.host);
  if (!into) return tl::unexpected(into.error());
  Computation computation(file, world, results, *design, runs, self.host);
  const auto signal = computation.run(**into, **active, choices.jobs, deadline, share.index == 0);
  if (!signal) return tl::unexpected(signal.error());
  if (*signal) {
    print_error(
        "weir sweep: share {} interrupted: {} of {} runs are done; the same command does the others\n",
        text(share), computation.ended(), runs.size());
    return 128 + **signal;
  }
  return conclude(share, failed + computation.failed());
}

Result<ExitStatus> sweep(const SweepChoices& choices) {
  std::signal(SIGPIPE, SIG_IGN);
  if (choices.status) return show_status(choices.folder);
  if (!choices.file.empty()) return export_runs(choices.folder, choices.file);
  if (choices.input.file.empty())
    return wrong("sweep", Error{"an experiment file is needed, but for --status and --export"});
  const auto deadline = parse_duration(choices.deadline);
  if (!deadline) return wrong("sweep", Error{"--deadline: " + deadline.error().text});
  if (*deadline <= Duration(0)) return wrong("sweep", Error{"--deadline: expected more than 0s"});
  const auto share = share_of(environment, choices.share);
  if (!share) return wrong("sweep", share.error());
  const auto world = simulated_world(choices.simulation);
  if (!world) return wrong("sweep", world.error());
  const auto file = choices.input.read();
  if (!file) return wrong("sweep", file.error());
  return compute(choices, *file, *world, *share, *deadline);
}

}  // namespace

void add_sweep(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("sweep", "Runs all points of an experiment, on one machine or many, resumably");
  const auto choices = std::make_shared<SweepChoices>();
  add_input(*command, choices->input);
  command->get_option("experiment")->required(false);
  command
      ->add_option("--results", choices->folder,
                   "The folder for results. Those that are there already are not computed again, whichever\n"
                   "design they were computed for")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--jobs", choices->jobs, "How many runs at once in this process's share")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--deadline", choices->deadline,
                   "What a run may take; one that takes longer is ended and has failed")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_flag("--retry", choices->retry,
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
