#include "studies/sweep/sweep_share.h"

#include <fmt/format.h>

#include "core/base/hash.h"
#include "studies/process/processes.h"
#include "studies/sweep/active_workers.h"

namespace weir {
namespace {

// Computes the remaining runs, each in a process of its own.
class ShareComputation {
 public:
  ShareComputation(const ExperimentFile& file, const World& world, const Design& design,
                   const SweepSettings& settings, std::vector<std::size_t> runs, std::string host)
      : file_(file),
        world_(world),
        design_(design),
        settings_(settings),
        results_(design.study, settings.folder, design.keys),
        runs_(std::move(runs)),
        host_(std::move(host)) {}

  // Runs until all have ended, a signal arrives, or a result cannot be written, which is an error.
  Result<std::optional<int>> run(ResultStore& into, ActiveWorker& active, const SweepEvents& events) {
    const Signals signals;
    const auto keep = [&](const Result<void>& written) {
      if (!written && written_) written_ = written;
    };
    const Task task = [&](std::size_t i) { return text(run_one(file_, results_.runs()[runs_[i]], world_)); };
    const Watch watch{.deadline = settings_.deadline,
                      .started =
                          [&](std::size_t i) {
                            began_[i] = utc_now();
                            keep(into.begin(design_.keys[runs_[i]]));
                          },
                      .ended =
                          [&](std::size_t i, const Ending& ending) {
                            const StoredResult stored_result = stored_result_of(i, ending);
                            keep(into.add(stored_result));
                            if (!stored_result.settled()) ++failed_;
                            ++ended_;
                            if (events.ended)
                              events.ended(stored_result, results_.name(results_.runs()[runs_[i]]), ended_);
                          },
                      .goes_on =
                          [&] {
                            active.beat();
                            return written_.has_value();
                          }};
    const std::optional<int> signal = run_watched(runs_.size(), settings_.jobs, task, watch, signals);
    if (!written_) return tl::unexpected(written_.error());
    return signal ? signal : signals.arrived();
  }

  std::size_t ended() const { return ended_; }
  std::size_t failed() const { return failed_; }

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

  const ExperimentFile& file_;
  const World& world_;
  const Design& design_;
  const SweepSettings& settings_;
  const Results results_;
  std::vector<std::size_t> runs_;
  std::string host_;
  std::map<std::size_t, std::string> began_;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  Result<void> written_;
};

// The work of a share.
struct Left {
  std::vector<std::size_t> runs;  // not computed yet; with retry also runs that failed earlier
  std::size_t failed = 0;         // runs that failed earlier and are not repeated
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

}  // namespace

Studied<ShareResult> compute_share(const ExperimentFile& file, const World& world,
                                   const SweepSettings& settings, const SweepEvents& events) {
  const auto design = design_of(file, world);
  if (!design) return wrong_input(design.error());
  if (const auto made = SweepFolder::make(settings.folder); !made) return tl::unexpected(made.error());
  const std::string written_design = text(*design);
  const Worker self = this_worker(settings.share, settings.jobs, hash_of(written_design));
  const auto active = ActiveWorker::enter(settings.folder, self);
  if (!active) return wrong_input(active.error());
  if (const auto written = SweepFolder::write(settings.folder, written_design); !written)
    return tl::unexpected(written.error());
  const auto stored = SweepResults::read(settings.folder, [&] { (*active)->beat(); });
  if (!stored) return tl::unexpected(stored.error());
  if (const auto whole = stored->whole(); !whole) {
    return failure(fmt::format(
        "{}\nthe results in these files would be computed again; repair the files, or move them away",
        whole.error().text));
  }

  const Left left = left_of(*design, settings.share, *stored, settings.retry);
  if (events.begun) events.begun(*design, left.runs.size());
  ShareResult result{left.runs.size(), 0, left.failed, std::nullopt};
  if (left.runs.empty()) return result;
  const auto into = ResultStore::make(settings.folder, self.host);
  if (!into) return tl::unexpected(into.error());
  ShareComputation computation(file, world, *design, settings, left.runs, self.host);
  const auto signal = computation.run(**into, **active, events);
  if (!signal) return tl::unexpected(signal.error());
  result.ended = computation.ended();
  result.failed += computation.failed();
  result.signal = *signal;
  return result;
}

}  // namespace weir
