#include "core/analysis/bound.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/analysis/critical_path.h"
#include "core/base/units_text.h"
#include "core/experiment/planned_run.h"
#include "core/report/report.h"
#include "core/strategies/strategy.h"
#include "studies/output/table.h"
#include "studies/run/configuration.h"
#include "studies/run/labels.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

constexpr std::size_t kNeedsShown = 10;
constexpr std::size_t kStepsShown = 12;

struct BoundChoices {
  Input input;
  std::string strategy;
};

struct Bounded {
  std::string name;  // in the experiment
  Plan plan;
  Bound bound;
  Label label;
};

// Of needs that differ only in numbers, as those of all machines of a group do, the first alone; of those of
// machines not too many.
std::vector<Need> first_of_each_kind(const std::vector<Need>& needs, const Cluster& cluster) {
  std::vector<Need> firsts;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Need& need : needs) {
    if (need.machine.valid() && firsts.size() >= kNeedsShown) continue;
    if (seen.insert(kind_of(need.name, need.machine, cluster)).second) firsts.push_back(need);
  }
  return firsts;
}

void show_needs(const std::vector<Need>& needs, const Cluster& cluster) {
  std::vector<Table::Cells> rows;
  for (const Need& need : first_of_each_kind(needs, cluster)) {
    const bool link = need.bytes > Bytes(0);
    rows.push_back({need.name, link ? rounded(need.bytes) : "-", link ? rounded(need.rate) : "-",
                    rounded(need.whole), rounded(need.time)});
  }
  print("{}", text({{"what binds", Side::kLeft}, {"bytes"}, {"rate"}, {"its time"}, {"iteration"}}, rows));
}

std::string layers(const Workload& workload, int first, int last) {
  if (first == last) return workload.layer(first).name;
  return fmt::format("{} to {}", workload.layer(first).name, workload.layer(last).name);
}

// How the time of a link or device comes about.
void explain(const Need& need, const Workload& workload) {
  if (need.exchange == Duration(0) || need.name == "critical path") return;
  print("{} = {} of {} for {} + {} of compute for {}: those cannot overlap\n", rounded(need.time),
        rounded(need.exchange), need.name, layers(workload, 0, need.layer), rounded(need.compute),
        layers(workload, need.layer, workload.layers() - 1));
}

// Adjacent ops of one kind, machine and peer.
struct Step {
  const Op* first;
  const Op* last;
  std::size_t ops = 0;
  Duration time;
};

std::vector<Step> steps_of(const CriticalPath& path, const Plan& plan, const WorkTable& works) {
  std::vector<Step> steps;
  for (const OpId id : path.ops) {
    const Op& op = plan.op(id);
    const bool more = !steps.empty() && steps.back().last->kind == op.kind &&
                      steps.back().last->machine == op.machine && steps.back().last->peer == op.peer;
    if (!more) steps.push_back({&op, &op});
    steps.back().last = &op;
    ++steps.back().ops;
    steps.back().time += works.shortest(id);
  }
  return steps;
}

void show_path(const Bounded& bounded, const Cluster& cluster, const Workload& workload) {
  const Plan& plan = bounded.plan;
  const WorkTable works(plan, cluster);
  const CriticalPath path = critical_path(plan, works);
  print("\nThe critical path of {}: {} over {} ops\n", bounded.name, rounded(path.length), path.ops.size());
  std::vector<std::string> parts;
  for (const auto& [part, time] : {std::pair("compute", path.compute),
                                   {"collectives", path.collectives},
                                   {"copies", path.copies},
                                   {"sends", path.sends},
                                   {"sums", path.sums},
                                   {"updates", path.updates},
                                   {"waits", path.waits},
                                   {"latency", path.latency}}) {
    if (time > Duration(0)) parts.push_back(fmt::format("{} {}", part, rounded(time)));
  }
  weir::print("{}\n", fmt::join(parts, ", "));
  const std::vector<Step> steps = steps_of(path, plan, works);
  std::vector<Table::Cells> rows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kStepsShown && i == kStepsShown / 2) {
      i = steps.size() - kStepsShown / 2;
      rows.push_back({fmt::format("... {} more", steps.size() - kStepsShown), "", "", "", ""});
    }
    const Step& step = steps[i];
    std::string where = cluster.machine(step.first->machine).name;
    if (is_message(step.first->kind))
      where += fmt::format(" {} {}", peer_word(step.first->kind), cluster.machine(step.first->peer).name);
    rows.push_back({std::string(name(step.first->kind)), where,
                    layers(workload, step.first->layer, step.last->layer), std::to_string(step.ops),
                    rounded(step.time)});
  }
  print("{}",
        text({{"step", Side::kLeft}, {"where", Side::kLeft}, {"layers", Side::kLeft}, {"ops"}, {"time"}},
             rows));
}

void show_plan(const Bounded& bounded, const Cluster& cluster, const Workload& workload) {
  const std::vector<Need> needs = plan_needs(bounded.plan, cluster, workload);
  print("\n{} takes no less than {} an iteration, because of {}\n", bounded.name, rounded(needs.front().time),
        needs.front().name);
  show_needs(needs, cluster);
  explain(needs.front(), workload);
  show_path(bounded, cluster, workload);
}

struct Bounds {
  std::vector<Bounded> possible;
  std::string others;  // a line for each strategy that has no plan
};

Bounds bounds_of(const Experiment& experiment, const Cluster& cluster, const Workload& workload,
                 const std::vector<std::string>& names) {
  Bounds bounds;
  for (const std::string& name : names) {
    const Contender found = *contender(experiment, name);
    auto plan = planned(found, cluster, workload);
    if (!plan) {
      bounds.others += fmt::format("{}: {}\n", name, plan.error().text);
      continue;
    }
    const WorkTable works(*plan, cluster);
    const Bound bound = plan_bound(*plan, cluster, works, workload);
    const Label label = label_of(*plan, cluster, works, experiment, found);
    bounds.possible.push_back({name, std::move(*plan), bound, label});
  }
  return bounds;
}

Result<ExitStatus> show_bounds(const BoundChoices& choices) {
  const auto experiment = choices.input.base();
  if (!experiment) return wrong("bound", experiment.error());
  const Cluster cluster = cluster_of(*experiment);
  const Workload workload(experiment->trace);
  const bool one = !choices.strategy.empty();
  if (one) {
    if (const auto known = contender(*experiment, choices.strategy); !known) {
      return wrong("bound", Error{"--strategy: " + known.error().text});
    }
  }
  const std::vector<std::string> strategies = one ? std::vector{choices.strategy} : experiment->strategies;
  tell_tuned_for_others("bound", choices.input, strategies, name_of(experiment->trace));
  const Bounds bounds = bounds_of(*experiment, cluster, workload, strategies);
  if (bounds.possible.empty()) return failure("none of the strategies is possible\n" + bounds.others);

  const std::vector<Need> needs = cluster_needs(cluster, workload);
  const Duration any = needs.front().time;
  print("{} ({}) on {}: {} machines with GPUs, {} without\n", experiment->trace.name,
        rounded(workload.size()), experiment->topology.name, cluster.gpu_machines().size(),
        cluster.cpu_machines().size());
  print("No plan takes less than {} an iteration, because of {}\n", rounded(any), needs.front().name);
  show_needs(needs, cluster);
  explain(needs.front(), workload);
  if (!bounds.others.empty()) print("\n{}", bounds.others);
  std::vector<Table::Cells> rows;
  std::vector<Labelled> labels;
  for (const Bounded& bounded : bounds.possible) {
    const double ratio = any > Duration(0) ? bounded.bound.time / any : 1.0;
    const std::string label(enum_name(bounded.label.trust));
    rows.push_back({bounded.name, rounded(bounded.bound.time), fmt::format("{:.3f}x", ratio), label,
                    bounded.bound.binding});
    labels.push_back({bounded.name, label, bounded.label.reason});
  }
  print("\n{}", text({{"strategy", Side::kLeft},
                      {"its bound"},
                      {"over that"},
                      {"label", Side::kLeft},
                      {"binding", Side::kLeft}},
                     rows));
  print("{}", reasons(labels));
  show_plan(*std::min_element(bounds.possible.begin(), bounds.possible.end(),
                              [](const Bounded& a, const Bounded& b) { return a.bound.time < b.bound.time; }),
            cluster, workload);
  return kExitWell;
}

}  // namespace

void add_bound(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("bound", "Says what no schedule can beat, and which resource sets it");
  const auto choices = std::make_shared<BoundChoices>();
  add_input(*command, choices->input);
  add_strategy(*command, choices->strategy, "This strategy only (all of the experiment if left out)");
  command->footer(
      "Takes the values that stand in the file, not those of its sweep; --set chooses others. Nothing is "
      "simulated.\n"
      "For each link and device: how long its bytes or ops occupy it (its time), and how long an iteration "
      "must be\n"
      "then at least, as computation comes before and after (iteration); one of each kind is shown. The "
      "critical\n"
      "path is the longest chain of ops that wait for each other, each as fast as it is alone. Needs and "
      "path "
      "are\n"
      "those of the strategy with the least bound.\n\n"
      "Examples:\n"
      "  weir bound experiments/quickstart\n"
      "  weir bound experiments/quickstart --strategy ring --set topology.groups.gpu.count=16");
  command->callback([choices, &status] { status = exit_status("bound", show_bounds(*choices)); });
}

}  // namespace weir
