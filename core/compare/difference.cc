#include "core/compare/difference.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/report/interval.h"

namespace weir {
namespace {

// Means of an op over the measured iterations.
struct OpTimes {
  Duration queueing;
  Duration duration;
};

std::vector<OpTimes> op_times(const Recorded& run) {
  const int iterations = static_cast<int>(run.record.iterations.size());
  std::vector<OpTimes> all(run.plan.ops().size());
  for (const Op& op : run.plan.ops()) {
    OpTimes& sum = all[op.id.index()];
    for (int i = run.warm_up; i < iterations; ++i) {
      const OpRecord times = times_of(op, run.plan, run.record, i);
      // A real port may read its clock for the start before its node reads it for the submission.
      sum.queueing += std::max(times.started - times.submitted, Duration());
      sum.duration += times.completed - times.started;
    }
    sum.queueing = sum.queueing / (iterations - run.warm_up);
    sum.duration = sum.duration / (iterations - run.warm_up);
  }
  return all;
}

using ByMachine = std::map<MachineId, std::vector<OpId>>;

Duration busy(const Recorded& run, const ByMachine& by_machine) {
  const int iterations = static_cast<int>(run.record.iterations.size());
  Duration sum;
  for (const auto& [machine, ops] : by_machine) {
    std::vector<Interval> intervals;
    for (int i = run.warm_up; i < iterations; ++i) {
      for (const OpId op : ops) {
        const OpRecord times = times_of(run.plan.op(op), run.plan, run.record, i);
        intervals.push_back({times.started, times.completed});
      }
    }
    sum += covered(std::move(intervals)) / (iterations - run.warm_up);
  }
  return sum / static_cast<std::int64_t>(by_machine.size());
}

StageTimes stage_times(const Recorded& run, const std::vector<OpTimes>& times, const ByMachine& by_machine) {
  StageTimes stage;
  std::int64_t count = 0;
  for (const auto& [machine, ops] : by_machine) {
    for (const OpId op : ops) {
      stage.mean += times[op.index()].duration;
      stage.queueing += times[op.index()].queueing;
      ++count;
    }
  }
  stage.mean = stage.mean / count;
  stage.queueing = stage.queueing / count;
  stage.busy = busy(run, by_machine);
  return stage;
}

std::string class_of(const Op& op, const Cluster& cluster) {
  const std::string& group = cluster.machine(op.machine).group;
  if (is_message(op.kind)) {
    return fmt::format("{} {} {} {}", name(op.kind), group, peer_word(op.kind),
                       cluster.machine(op.peer).group);
  }
  return fmt::format("{} {}", name(op.kind), group);
}

// Nearest rank: the smallest value such that at least this percentage of all values is not larger.
double percentile(const std::vector<double>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Errors errors_of(std::vector<double> values) {
  Errors errors;
  if (values.empty()) return errors;
  std::sort(values.begin(), values.end());
  errors.ops = values.size();
  errors.tenth = percentile(values, 10);
  errors.median = percentile(values, 50);
  errors.ninetieth = percentile(values, 90);
  errors.worst = std::abs(values.front()) > std::abs(values.back()) ? values.front() : values.back();
  return errors;
}

ClassDifference class_difference(const std::string& name, const std::vector<OpId>& ops,
                                 const std::vector<OpTimes>& a, const std::vector<OpTimes>& b) {
  ClassDifference difference{name, ops.size(), {}, {}, {}};
  std::vector<double> errors;
  for (const OpId op : ops) {
    const Duration in_a = a[op.index()].duration;
    const Duration in_b = b[op.index()].duration;
    difference.a += in_a;
    difference.b += in_b;
    if (const auto error = relative_error(in_a, in_b)) errors.push_back(*error);
  }
  difference.a = difference.a / static_cast<std::int64_t>(ops.size());
  difference.b = difference.b / static_cast<std::int64_t>(ops.size());
  difference.errors = errors_of(std::move(errors));
  return difference;
}

}  // namespace

std::optional<double> relative_error(double a, double b) {
  if (b != 0) return (a - b) / b;
  if (a == 0) return 0.0;
  return {};
}

std::optional<double> relative_error(Duration a, Duration b) {
  return relative_error(static_cast<double>(a.ns()), static_cast<double>(b.ns()));
}

Difference difference(const Recorded& a, const Recorded& b, std::size_t most) {
  WEIR_CHECK(a.plan.ops().size() == b.plan.ops().size(), a.plan.ops().size(), b.plan.ops().size());
  const WorkTable works(a.plan, a.cluster);
  const std::vector<OpTimes> in_a = op_times(a);
  const std::vector<OpTimes> in_b = op_times(b);
  std::map<Stage, ByMachine> stages;
  std::map<std::pair<OpKind, std::string>, std::vector<OpId>> classes;
  std::vector<OpDifference> ops;
  for (const Op& op : a.plan.ops()) {
    const auto stage = stage_of(op, works);
    if (!stage) continue;
    stages[*stage][op.machine].push_back(op.id);
    classes[{op.kind, class_of(op, a.cluster)}].push_back(op.id);
    const OpDifference one{op.id, in_a[op.id.index()].duration, in_b[op.id.index()].duration};
    if (one.a != one.b) ops.push_back(one);
  }
  const auto apart = [](const OpDifference& op) { return std::abs((op.a - op.b).ns()); };
  std::stable_sort(ops.begin(), ops.end(), [&](const auto& x, const auto& y) { return apart(x) > apart(y); });
  ops.resize(std::min(most, ops.size()));

  Difference difference{report(a.plan, a.cluster, a.workload, a.record, a.warm_up),
                        report(b.plan, b.cluster, b.workload, b.record, b.warm_up),
                        {},
                        {},
                        std::move(ops)};
  for (const auto& [stage, by_machine] : stages) {
    std::size_t count = 0;
    for (const auto& [machine, its] : by_machine) count += its.size();
    difference.stages.push_back(
        {stage, count, stage_times(a, in_a, by_machine), stage_times(b, in_b, by_machine)});
  }
  for (const auto& [key, its] : classes)
    difference.classes.push_back(class_difference(key.second, its, in_a, in_b));
  return difference;
}

}  // namespace weir
