#include "apps/weir/text/bound_text.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/report/report.h"
#include "studies/output/table.h"
#include "studies/run/labels.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

constexpr std::size_t kNeedsShown = 10;
constexpr std::size_t kStepsShown = 12;

// The first of all needs that differ only in numbers, as the machines of a group do. Limits the number of
// needs of machines.
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
                    rounded(need.whole), rounded(need.time), rounded(need.steady)});
  }
  print("{}",
        text({{"what binds", Side::kLeft}, {"bytes"}, {"rate"}, {"its time"}, {"first"}, {"steady"}}, rows));
}

std::string layers(const Workload& workload, int first, int last) {
  if (first == last) return workload.layer(first).name;
  return fmt::format("{} to {}", workload.layer(first).name, workload.layer(last).name);
}

// Says what an iteration takes at least if all machines start it together, and in steady state.
std::string least(const std::string& who, Duration first, const std::string& binding, const Bound& steady) {
  return fmt::format(
      "{} less than {} an iteration, because of {}\n"
      "Later iterations may overlap; in steady state the limit is {}, because of {}\n",
      who, rounded(first), binding, rounded(steady.time), steady.binding);
}

// Explains how the time of a link or device arises.
void explain(const Need& need, const Workload& workload) {
  if (need.exchange == Duration(0) || need.name == "critical path") return;
  print("{} = {} of {} for {} + {} of compute for {}: those cannot overlap\n", rounded(need.time),
        rounded(need.exchange), need.name, layers(workload, 0, need.layer), rounded(need.compute),
        layers(workload, need.layer, workload.layers() - 1));
}

void show_path(const StrategyBound& bounded, const Cluster& cluster, const Workload& workload) {
  const auto& [path, steps] = path_of(bounded.plan, cluster);
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
  std::vector<Table::Cells> rows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kStepsShown && i == kStepsShown / 2) {
      i = steps.size() - kStepsShown / 2;
      rows.push_back({fmt::format("... {} more", steps.size() - kStepsShown), "", "", "", ""});
    }
    const PathStep& step = steps[i];
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

void show_plan(const StrategyBound& bounded, const Cluster& cluster, const Workload& workload) {
  const std::vector<Need> needs = plan_needs(bounded.plan, cluster, workload);
  print("\n{}", least(bounded.name + " takes no", needs.front().time, needs.front().name, bounded.steady));
  show_needs(needs, cluster);
  explain(needs.front(), workload);
  show_path(bounded, cluster, workload);
}

void show_strategies(const ExperimentBounds& bounds) {
  const Duration any = bounds.needs.front().time;
  std::vector<Table::Cells> rows;
  std::vector<Labelled> labels;
  for (const StrategyBound& bounded : bounds.possible) {
    const double ratio = any > Duration(0) ? bounded.bound.time / any : 1.0;
    const std::string label(enum_name(bounded.label.trust));
    rows.push_back({bounded.name, rounded(bounded.bound.time), fmt::format("{:.3f}x", ratio),
                    rounded(bounded.steady.time), label, bounded.bound.binding});
    labels.push_back({bounded.name, label, bounded.label.reason});
  }
  print("\n{}", text({{"strategy", Side::kLeft},
                      {"its bound"},
                      {"over any plan's"},
                      {"steady"},
                      {"label", Side::kLeft},
                      {"binding", Side::kLeft}},
                     rows));
  print("{}", reasons(labels));
}

}  // namespace

void show(const ExperimentBounds& bounds) {
  const Cluster& cluster = bounds.cluster;
  const Need& first = bounds.needs.front();
  print("{} ({}) on {}: {} machines with GPUs, {} without\n", bounds.experiment.trace.name,
        rounded(bounds.workload.size()), bounds.experiment.topology.name, cluster.gpu_machines().size(),
        cluster.cpu_machines().size());
  print("{}", least("No plan takes", first.time, first.name, bounds.steady));
  show_needs(bounds.needs, cluster);
  explain(first, bounds.workload);
  if (!bounds.impossible.empty()) print("\n{}", text(bounds.impossible));
  show_strategies(bounds);
  show_plan(bounds.least(), cluster, bounds.workload);
}

std::string text(const std::vector<NoBound>& impossible) {
  std::string lines;
  for (const NoBound& one : impossible) lines += fmt::format("{}: {}\n", one.name, one.why);
  return lines;
}

}  // namespace weir
