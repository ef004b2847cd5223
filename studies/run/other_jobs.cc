#include "studies/run/other_jobs.h"

#include <algorithm>

#include "core/analysis/bound.h"
#include "core/experiment/planned_run.h"
#include "core/plan/proof.h"
#include "core/report/report.h"

namespace weir {
namespace {

Error about(const OtherJob& job, const std::string& text) {
  return Error{fmt::format("its other job '{}': {}", job.name, text)};
}

// The mean iteration of a job that has the cluster to itself.
Result<Duration> alone(const Planned& planned, Job job, const World& world) {
  job.start = Duration(0);
  const Planned single{planned.experiment, planned.contender, job.plan,        job.subcluster.cluster,
                       planned.settings,   planned.whole,     {std::move(job)}};
  const auto output = world.run(single);
  if (!output) return tl::unexpected(output.error());
  const Interval measured = measured_time(single.plan, output->record, planned.experiment.warm_up);
  return (measured.end - measured.begin) / planned.experiment.iterations;
}

// The mean of the iterations that began and ended between the two instants; none if there were none. The
// first begins at `start`, each other one when the previous ends.
std::optional<std::int64_t> mean_within(Duration start, std::vector<Instant> ends, Instant begin,
                                        Instant end) {
  ends.insert(ends.begin(), Instant() + start);
  const auto first = std::lower_bound(ends.begin(), ends.end(), begin);
  const auto after = std::upper_bound(first, ends.end(), end);
  if (after - first < 2) return std::nullopt;
  return ((*(after - 1) - *first) / (after - first - 1)).ns();
}

}  // namespace

Result<PlannedOtherJobs> plan_other_jobs(const Experiment& experiment, const Cluster& whole) {
  PlannedOtherJobs other_jobs;
  for (const OtherJob& job : experiment.other_jobs) {
    PlannedOtherJob& other_job = *other_jobs.emplace_back(std::make_unique<PlannedOtherJob>(job, whole));
    const Strategy* const strategy = *strategy_named(job.strategy);
    const Contender contender{strategy, strategy->settled(job.options)};
    auto plan = planned(contender, other_job.subcluster.cluster, other_job.workload);
    if (!plan) return tl::unexpected(about(job, plan.error().text));
    other_job.plan = std::move(*plan);
    other_job.dispatch = dispatch_of(*strategy, contender.options);
    // Such a job would repeat forever at one instant.
    if (plan_bound(other_job.plan, other_job.subcluster.cluster, other_job.workload, Stretch::first()).time ==
        Duration(0))
      return tl::unexpected(about(job, "its iterations take no time"));
    if (!experiment.prove) continue;
    const auto proof = prove(other_job.plan, other_job.subcluster.cluster, other_job.workload);
    if (!proof) return tl::unexpected(about(job, "its plan is wrong:\n" + proof.error().text));
  }
  return other_jobs;
}

Result<void> add_other_jobs(const Planned& planned, const PlannedOtherJobs& other_jobs,
                            const RunOutput& output, const World& world, Row& row) {
  if (other_jobs.empty()) return {};
  const auto own = alone(planned, planned.jobs.front(), world);
  if (!own) return tl::unexpected(Error{"without its other jobs: " + own.error().text});
  row.alone_ns = own->ns();
  const auto [begin, end] = measured_time(planned.plan, output.record, planned.experiment.warm_up);
  for (std::size_t i = 0; i < other_jobs.size(); ++i) {
    const OtherJob& job = other_jobs[i]->asked;
    const auto time = alone(planned, planned.jobs[i + 1], world);
    if (!time) return tl::unexpected(about(job, time.error().text));
    row.other_jobs.push_back(
        {job.name, job.strategy, mean_within(job.start, output.ends_of_others[i], begin, end), time->ns()});
  }
  return {};
}

}  // namespace weir
