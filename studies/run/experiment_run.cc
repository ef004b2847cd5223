#include "studies/run/experiment_run.h"

#include "studies/process/processes.h"

namespace weir {

ExperimentRun::ExperimentRun(const ExperimentFile& file, const Configuration& configuration,
                             const World& world, RunSettings settings)
    : file_(file),
      first_(configuration.first),
      world_(world),
      settings_(std::move(settings)),
      results_(file, configuration, settings_.folder, world),
      files_(results_, settings_.folder) {
  if (settings_.records) results_.keep_records(settings_.folder);
}

Result<std::unique_ptr<ExperimentRun>> ExperimentRun::begin(const ExperimentFile& file,
                                                            const Configuration& configuration,
                                                            const World& world, RunSettings settings) {
  std::unique_ptr<ExperimentRun> run(new ExperimentRun(file, configuration, world, std::move(settings)));
  if (const auto made = run->files_.prepare(); !made) return tl::unexpected(made.error());
  return run;
}

Result<std::optional<int>> ExperimentRun::run(const std::function<void()>& ended) {
  const Signals signals;
  const Task task = [&](std::size_t index) { return text(run_one(file_, results_.runs()[index], world_)); };
  const Ended keep = [&](std::size_t index, const Result<std::string>& text) {
    results_.add(index, text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text});
    files_.update(results_.runs()[index].point);
    if (ended) ended();
  };
  const int jobs = world_.simulated ? settings_.jobs : 1;
  std::optional<int> signal = run_in_processes(results_.runs().size(), jobs, task, keep, signals);
  if (const auto written = files_.finish(); !written) return tl::unexpected(written.error());
  return signal ? signal : signals.arrived();
}

Result<std::vector<Comparison>> ExperimentRun::compare(const std::string& name) const {
  std::vector<Comparison> compared = comparisons(file_, first_, results_, name);
  if (compared.empty()) return compared;
  if (const auto written = files_.write_published(csv(compared)); !written)
    return tl::unexpected(written.error());
  return compared;
}

}  // namespace weir
