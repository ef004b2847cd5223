#include "studies/run/trial.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include "core/analysis/bound.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/calibrate/label.h"
#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"
#include "core/experiment/experiment_fields.h"
#include "core/experiment/experiment_file.h"
#include "core/plan/hash.h"
#include "core/plan/proof.h"
#include "core/report/report.h"
#include "core/report/timeline.h"
#include "core/run/record_file.h"
#include "core/strategies/strategy.h"
#include "studies/output/files.h"
#include "studies/run/labels.h"
#include "studies/run/other_jobs.h"

namespace weir {
namespace {

constexpr std::size_t kMostRecords = 200'000'000;  // about 5 GB
constexpr double kTolerance = 1e-6;  // relative: bounds and runs are rounded to nanoseconds step by step

// An outcome as text. Sweeps keep it in databases, so it may be damaged.
struct OutcomeText {
  int kind = 0;
  std::string text;
  Value row;
};

template <class Visitor>
void fields(Visitor& visitor, OutcomeText& outcome) {
  visitor.required("kind", outcome.kind, "how the run ended", within(0, 2));
  visitor.required("text", outcome.text, "why there is no row");
  visitor.optional("row", outcome.row, "its results");
}

Outcome failed(std::string text) { return {Outcome::Kind::kFailed, {}, std::move(text)}; }

// The bounds of a run: of any plan, and of this one.
struct Bounds {
  Bound first;  // of the iteration that all machines start together
  Bound first_of_plan;
  Bound mean;  // of the mean of the measured iterations
  Bound mean_of_plan;
};

Bounds bounds_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
                 const Experiment& experiment) {
  const Stretch measured{experiment.warm_up, experiment.iterations};
  Bounds bounds;
  bounds.first = cluster_bound(cluster, workload, Stretch::first());
  bounds.first_of_plan = plan_bound(plan, cluster, works, workload, Stretch::first());
  bounds.mean = measured == Stretch::first() ? bounds.first : cluster_bound(cluster, workload, measured);
  bounds.mean_of_plan = measured == Stretch::first() ? bounds.first_of_plan
                                                     : plan_bound(plan, cluster, works, workload, measured);
  return bounds;
}

Bounds bounds_of(const Plan& plan, const Cluster& cluster, const Workload& workload,
                 const Experiment& experiment) {
  return bounds_of(plan, cluster, WorkTable(plan, cluster), workload, experiment);
}

// With jitter, computation may be shorter than in the trace, so a run may be shorter than its bounds.
Result<void> check_bounds(const Report& report, const Bounds& bounds, const SimulationSettings& settings) {
  if (settings.model.compute_jitter > 0 || settings.conditions.jitter()) return {};
  for (const auto& [what, took, bound] : {std::tuple("its first iteration", report.first, &bounds.first),
                                          {"its first iteration", report.first, &bounds.first_of_plan},
                                          {"an iteration", report.iteration, &bounds.mean},
                                          {"an iteration", report.iteration, &bounds.mean_of_plan}}) {
    if (took.seconds() >= bound->time.seconds() * (1 - kTolerance)) continue;
    return failure(fmt::format("the simulation beat its bound: {} took {}, but {} alone takes {}", what,
                               text(took), bound->binding, text(bound->time)));
  }
  return {};
}

Row row_of(const Trial& trial, const Plan& plan, const Cluster& cluster, const Report& report) {
  Row row;
  row.strategy = trial.strategy;
  row.seed = trial.seed;
  row.gpu_machines = static_cast<std::int64_t>(cluster.gpu_machines().size());
  row.cpu_machines = static_cast<std::int64_t>(cluster.cpu_machines().size());
  row.iteration_ns = report.iteration.ns();
  row.first_ns = report.first.ns();
  row.exposed_communication_ns = report.exposed.ns();
  row.communication_ns = report.communication.ns();
  row.compute_ns = report.compute.ns();
  if (report.goodput.limited()) row.goodput_bytes_per_s = report.goodput.value();
  row.samples_per_s = report.samples_per_second;
  row.messages = static_cast<std::int64_t>(plan.messages().size());
  row.ops = static_cast<std::int64_t>(plan.ops().size());
  for (const LinkLoad& load : busiest_of_each_kind(report.links, cluster)) {
    row.links.push_back({cluster.link(load.link).name, load.bytes.count(), load.use});
  }
  for (const Bytes bytes : report.host_memory) row.host_memory_by_machine.push_back(bytes.count());
  row.host_memory_bytes =
      *std::max_element(row.host_memory_by_machine.begin(), row.host_memory_by_machine.end());
  return row;
}

Result<void> check_memory(const Experiment& experiment, const Plan& plan) {
  const auto iterations =
      static_cast<std::size_t>(experiment.warm_up) + static_cast<std::size_t>(experiment.iterations);
  if (iterations * plan.ops().size() > kMostRecords) {
    return failure(fmt::format("{} iterations of {} ops probably exceed memory; run at most {}", iterations,
                               plan.ops().size(), kMostRecords / plan.ops().size()));
  }
  return {};
}

RecordHeader header_of(const Trial& trial, const Planned& planned, const World& world) {
  // We wrote it, so it parses.
  const auto experiment = parse_document(whole_text(planned.experiment, planned.contender), "");
  const SimulationSettings& settings = planned.settings;
  RecordHeader header;
  header.weir = version();
  header.world = world.name;
  header.world_settings = world.settings;
  header.strategy = trial.strategy;
  header.seed = trial.seed;
  header.point = trial.point;
  header.machines = static_cast<std::int64_t>(planned.cluster.machines().size());
  header.ops = static_cast<std::int64_t>(planned.plan.ops().size());
  header.iterations = settings.iterations;
  header.warm_up = planned.experiment.warm_up;
  header.plan_hash = plan_hash(planned.plan);
  header.policy = enum_name(settings.dispatch.policy);
  header.window_bytes = settings.dispatch.window.count();
  header.experiment = *experiment;
  return header;
}

// Checks that the world can run the experiment.
Result<void> check_world(const World& world, const Experiment& experiment, const Cluster& cluster,
                         const Workload& workload) {
  if (world.check) {
    if (auto fits = world.check(cluster, workload); !fits) return fits;
  }
  if (!world.simulated && !experiment.conditions.none())
    return failure("its 'conditions' are only for simulations; a real run meets the conditions of its hosts");
  if (!world.simulated && !experiment.alone())
    return failure(
        "its 'machines' and 'other_jobs' are only for simulations; a real run uses all machines of its "
        "topology");
  return {};
}

// A run, and the cluster by whose rates it is judged. A view.
struct Judged {
  const Cluster& cluster;
  const WorkTable& works;  // of the plan on it
  const Workload& workload;
  const RunOutput& output;
};

// The row of a run: what was measured, and what is possible.
Result<Row> judge(const Trial& trial, const Planned& planned, const World& world, const Contender& contender,
                  const Judged& judged) {
  const auto& [cluster, works, workload, output] = judged;
  const Plan& plan = planned.plan;
  const Report measured = report(plan, cluster, works, workload, output.record, planned.experiment.warm_up);
  const Bounds bounds = output.fastest
                            ? bounds_of(plan, Cluster(*output.fastest), workload, planned.experiment)
                            : bounds_of(plan, cluster, works, workload, planned.experiment);
  if (world.simulated) {
    const auto held = check_bounds(measured, bounds, planned.settings);
    if (!held) return tl::unexpected(held.error());
  }
  Row row = row_of(trial, plan, cluster, measured);
  if (world.simulated) set_label(row, label_of(plan, cluster, works, planned.experiment, contender));
  row.bound_ns = bounds.mean.time.ns();
  row.bound_binding = bounds.mean.binding;
  row.plan_bound_ns = bounds.mean_of_plan.time.ns();
  row.binding = bounds.mean_of_plan.binding;
  row.first_bound_ns = bounds.first.time.ns();
  row.first_plan_bound_ns = bounds.first_of_plan.time.ns();
  if (output.over_links) {
    const BytesPerSecond most = goodput_bound(output.fastest ? Cluster(*output.fastest) : cluster);
    if (most.limited()) row.goodput_bound_bytes_per_s = most.value();
    row.bound_percent =
        measured.iteration > Duration(0) ? 100.0 * (bounds.mean.time / measured.iteration) : 100.0;
  }
  if (output.link_rate) row.link_rate_bytes_per_s = output.link_rate->value();
  row.link_rate_difference = output.rate_difference;
  row.checked_elements = output.checked;
  return row;
}

// Predicts a real run by simulating it on the topology measured with it, and adds the result to the row.
Result<std::optional<RunOutput>> predict_run(const Planned& planned, const World& world,
                                             const Contender& contender, const Workload& workload,
                                             const RunOutput& output, Row& row) {
  if (!world.predictor || !output.paced) return std::nullopt;
  const Plan& plan = planned.plan;
  const SimulationSettings& settings = planned.settings;
  const Cluster paced(*output.paced);
  const Subcluster all(paced);
  const WorkTable works(plan, paced);
  const Job job{plan, all, settings.dispatch, settings.model, {}, &works};
  auto predicted =
      world.predictor->run({planned.experiment, planned.contender, plan, paced, settings, paced, {job}});
  if (!predicted) return tl::unexpected(predicted.error());
  Experiment with_paced = planned.experiment;
  with_paced.topology = *output.paced;
  set_label(row, label_of(plan, paced, works, with_paced, contender));
  row.predicted_ns =
      report(plan, paced, works, workload, predicted->record, planned.experiment.warm_up).iteration.ns();
  return std::optional<RunOutput>(std::move(*predicted));
}

// Writes a record's file, and returns its name in the folder.
Result<std::string> keep(const std::string& file, const RecordHeader& header, const Record& record) {
  if (const auto written = write_text(file, text(header, record)); !written)
    return tl::unexpected(written.error());
  return std::filesystem::path(file).filename().string();
}

// Keeps the record of the run, and of its prediction if there is one.
Result<void> keep_all(const Trial& trial, const Planned& planned, const World& world, const RunOutput& output,
                      const std::optional<RunOutput>& predicted, Row& row) {
  RecordHeader header = header_of(trial, planned, world);
  if (!output.settings.empty()) header.world_settings = output.settings;
  if (output.measured) header.measured = *parse_document(hashed(*output.measured).text, "");
  auto name = keep(trial.record, header, output.record);
  if (!name) return tl::unexpected(name.error());
  row.record = *name;
  if (!predicted) return {};
  header.measured = *parse_document(hashed(*output.paced).text, "");
  header.world = world.predictor->name;
  header.world_settings = world.predictor->settings;
  name = keep(trial.prediction, header, predicted->record);
  if (!name) return tl::unexpected(name.error());
  row.prediction = *name;
  return {};
}

}  // namespace

std::string text(const Outcome& outcome) {
  nlohmann::ordered_json message = {{"kind", static_cast<int>(outcome.kind)}, {"text", outcome.text}};
  if (outcome.kind == Outcome::Kind::kRow) message["row"] = write_fields(outcome.row);
  return json_text(message);
}

Outcome outcome_from(const std::string& text) {
  const auto message = parse_document(text, "");
  if (!message) return failed("it left no result");
  const auto unreadable = [](const std::string& why) {
    return failed("it left a result that cannot be read: " + why);
  };
  auto read = read_fields<OutcomeText>(*message);
  if (!read) return unreadable(read.error().text);
  Outcome outcome;
  outcome.kind = static_cast<Outcome::Kind>(read->kind);
  outcome.text = std::move(read->text);
  if (outcome.kind != Outcome::Kind::kRow) return outcome;
  auto row = read_fields<Row>(read->row, "row");
  if (!row) return unreadable(row.error().text);
  outcome.row = std::move(*row);
  return outcome;
}

Outcome run(const Trial& trial, const Experiment& experiment, const World& world) {
  const Cluster whole(experiment.topology);
  const Subcluster subcluster = subcluster_of(experiment, whole);
  const Cluster& cluster = subcluster.cluster;
  const Workload workload(experiment.trace);
  if (const auto fits = check_world(world, experiment, cluster, workload); !fits)
    return failed(fits.error().text);
  const auto found = contender(experiment, trial.strategy);
  if (!found) return failed(found.error().text);
  const auto& [strategy, options] = *found;
  if (const auto fits = check_size(*strategy, cluster, workload, options); !fits) {
    return failed(fits.error().text);
  }
  const auto plan = strategy->plan(cluster, workload, options);
  if (!plan) return {Outcome::Kind::kImpossible, {}, plan.error().text};
  if (experiment.prove) {
    if (const auto proof = prove(*plan, cluster, workload); !proof)
      return failed("its plan is wrong:\n" + proof.error().text);
  }
  if (const auto held = check_memory(experiment, *plan); !held) return failed(held.error().text);
  SimulationSettings settings{dispatch_of(*strategy, options), experiment.model,
                              experiment.warm_up + experiment.iterations, experiment.conditions};
  settings.model.seed = trial.seed;
  const auto other_jobs = plan_other_jobs(experiment, whole);
  if (!other_jobs) return failed(other_jobs.error().text);
  Planned planned_trial{experiment, trial.strategy, *plan, cluster, settings, whole, {}};
  std::optional<WorkTable> works;
  if (world.simulated) works.emplace(*plan, cluster);
  planned_trial.jobs.push_back(
      {*plan, subcluster, settings.dispatch, settings.model, {}, works ? &*works : nullptr});
  for (const auto& other_job : *other_jobs) planned_trial.jobs.push_back(other_job->job(settings.model));
  const auto output = world.run(planned_trial);
  if (!output) return failed(output.error().text);

  // A real run is judged by the rates that were measured with it.
  const Cluster judged = output->measured ? Cluster(*output->measured) : cluster;
  if (!works) works.emplace(*plan, judged);
  auto row = judge(trial, planned_trial, world, *found, {judged, *works, workload, *output});
  if (!row) return failed(row.error().text);
  const auto predicted = predict_run(planned_trial, world, *found, workload, *output, *row);
  if (!predicted) return failed("its prediction: " + predicted.error().text);
  if (const auto added = add_other_jobs(planned_trial, *other_jobs, *output, world, *row); !added)
    return failed(added.error().text);
  if (!trial.timeline.empty()) {
    const std::string drawn =
        timeline(*plan, judged, workload, output->record, experiment.warm_up, settings.model);
    if (const auto written = write_text(trial.timeline, drawn); !written) return failed(written.error().text);
    row->timeline = std::filesystem::path(trial.timeline).filename().string();
  }
  if (!trial.record.empty()) {
    const auto kept = keep_all(trial, planned_trial, world, *output, *predicted, *row);
    if (!kept) return failed(kept.error().text);
  }
  return {Outcome::Kind::kRow, std::move(*row), {}};
}

Outcome guarded(const std::function<Outcome()>& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory for it; try fewer machines, larger parts or fewer jobs");
  } catch (const std::exception& error) {  // from SimGrid
    return failed(error.what());
  }
}

}  // namespace weir
