#include "core/calibrate/prediction.h"

#include <algorithm>

#include "core/base/units_text.h"
#include "core/experiment/planned_run.h"
#include "core/report/report.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/simulation.h"

namespace weir {
namespace {

constexpr int kMostIterations = 2;  // later simulated iterations are alike

// The run's topology with those of the values that it has.
Result<Topology> with_values(const Topology& topology, const Values& values) {
  Topology changed = topology;
  changed.calibration.reset();
  for (const auto& [path, value] : values) {
    if (of_experiment(path)) continue;
    const Value written = written_values(changed);
    const std::string parent = path.substr(0, path.rfind('.'));
    if (value_at(written, parent) == nullptr) continue;
    auto next = with_value(changed, path, value);
    if (!next) return next;
    changed = std::move(*next);
  }
  return changed;
}

}  // namespace

PreparedRun::PreparedRun(const RealRun& run)
    : experiment_(run.experiment),
      contender_(*contender(*run.experiment, run.contender)),
      cluster_(run.experiment->topology),
      workload_(run.experiment->trace) {}

Result<std::unique_ptr<PreparedRun>> PreparedRun::make(const RealRun& run) {
  const auto found = contender(*run.experiment, run.contender);
  if (!found) return failure(run.source + ": " + found.error().text);
  std::unique_ptr<PreparedRun> made(new PreparedRun(run));
  const Contender& own = made->contender_;
  auto plan = planned(own, made->cluster_, made->workload_);
  if (!plan) return failure(run.source + ": " + plan.error().text);
  made->plan_ = std::move(*plan);
  made->uses_ =
      uses_of(made->plan_, made->cluster_, WorkTable(made->plan_, made->cluster_), *run.experiment, own);
  return made;
}

Result<Duration> PreparedRun::predict(const Values& values) {
  const auto topology = with_values(experiment_->topology, values);
  if (!topology) return tl::unexpected(topology.error());
  const Cluster cluster(*topology);
  Model model = experiment_->model;
  Options options = contender_.options;
  if (const auto at = values.find(std::string(kMessageOverhead)); at != values.end())
    model.message_overhead = *parse_duration(at->second.as_string());
  if (const auto at = values.find(std::string(kAllreduceEfficiency)); at != values.end())
    options.allreduce_efficiency = at->second.as_double();
  const Plan* plan = &plan_;
  if (options.allreduce_efficiency != contender_.options.allreduce_efficiency) {
    if (!again_ || again_->first != options.allreduce_efficiency) {
      auto made = contender_.strategy->plan(cluster_, workload_, options);
      if (!made) return tl::unexpected(made.error());
      again_.emplace(options.allreduce_efficiency, std::move(*made));
    }
    plan = &again_->second;
  }
  FluidEngine engine(*plan, cluster);
  const int iterations = experiment_->warm_up + std::min(experiment_->iterations, kMostIterations);
  const auto record =
      simulate(*plan, cluster, {dispatch_of(*contender_.strategy, options), model, iterations}, engine);
  if (!record) return tl::unexpected(record.error());
  return report(*plan, cluster, workload_, *record, experiment_->warm_up).iteration;
}

}  // namespace weir
