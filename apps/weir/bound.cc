#include "core/strategies/bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/weir/commands.h"
#include "apps/weir/input.h"
#include "apps/weir/output.h"
#include "apps/weir/table.h"
#include "core/base/units_text.h"
#include "core/fluid/report.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

constexpr std::size_t kLinksShown = 10;

struct Choices {
  Input input;
  std::string strategy;
};

struct Bounded {
  Plan plan;
  Bound bound;
};

void show_links(const Bounded& bounded, const Cluster& cluster) {
  const std::vector<LinkLoad> links = busiest_of_each_kind(
      links_by_use(bounded.plan, cluster, WorkTable(bounded.plan, cluster), bounded.bound.time), cluster);
  std::vector<Table::Cells> rows;
  for (std::size_t i = 0; i < std::min(kLinksShown, links.size()); ++i) {
    const Link& link = cluster.link(links[i].link);
    rows.push_back({link.name, rounded(links[i].bytes), rounded(link.rate),
                    rounded(links[i].bytes / link.rate), fmt::format("{:.1f} %", 100 * links[i].use)});
  }
  print("\nThe most loaded link of each kind, of {}:\n{}", bounded.plan.strategy(),
        text({{"link", Side::kLeft}, {"bytes"}, {"rate"}, {"time"}, {"of its bound"}}, rows));
}

// The bound of every strategy that has a plan; those that have none are told.
std::vector<Bounded> bounds_of(const Experiment& experiment, const Cluster& cluster, const Workload& workload,
                               const std::vector<std::string>& names) {
  std::vector<Bounded> all;
  for (const std::string& name : names) {
    const auto strategy = strategy_named(name);
    auto plan = (*strategy)->plan(cluster, workload, experiment.options);
    if (!plan) {
      print("{}: {}\n", name, plan.error().text);
      continue;
    }
    const Bound bound = plan_bound(*plan, cluster, workload);
    all.push_back({std::move(*plan), bound});
  }
  return all;
}

Result<ExitStatus> show_bounds(const Choices& choices) {
  const auto experiment = choices.input.base();
  if (!experiment) return tl::unexpected(experiment.error());
  const Cluster cluster(experiment->topology);
  const Workload workload(experiment->trace);
  const Bound any = cluster_bound(cluster, workload);
  print("{} ({}) on {}: {} machines with GPUs, {} without\n", experiment->trace.name,
        rounded(workload.size()), experiment->topology.name, cluster.gpu_machines().size(),
        cluster.cpu_machines().size());
  print("No plan takes less than {} an iteration, because of {}\n\n", rounded(any.time), any.binding);

  std::vector<std::string> names = experiment->strategies;
  if (!choices.strategy.empty()) {
    if (const auto strategy = strategy_named(choices.strategy); !strategy)
      return tl::unexpected(strategy.error());
    names = {choices.strategy};
  }
  const std::vector<Bounded> all = bounds_of(*experiment, cluster, workload, names);
  if (all.empty()) return failure("none of the strategies is possible");
  std::vector<Table::Cells> rows;
  for (const Bounded& one : all) {
    const double ratio = any.time > Duration(0) ? one.bound.time / any.time : 1.0;
    rows.push_back(
        {one.plan.strategy(), rounded(one.bound.time), fmt::format("{:.3f}x", ratio), one.bound.binding});
  }
  print("{}",
        text({{"strategy", Side::kLeft}, {"its bound"}, {"over that"}, {"binding", Side::kLeft}}, rows));
  show_links(
      *std::min_element(all.begin(), all.end(),
                        [](const Bounded& a, const Bounded& b) { return a.bound.time < b.bound.time; }),
      cluster);
  return 0;
}

}  // namespace

void add_bound(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("bound", "Says what no schedule can beat, and which resource sets it");
  const auto choices = std::make_shared<Choices>();
  add_input(*command, choices->input);
  command->add_option("--strategy", choices->strategy,
                      "This strategy only (all of the experiment if left out)");
  command->footer(
      "Takes the values that stand in the file, not those of its sweep; --set chooses others. Nothing is "
      "simulated.\n"
      "The links are those of the strategy with the least bound.\n\n"
      "Examples:\n"
      "  weir bound experiments/quickstart\n"
      "  weir bound experiments/quickstart --strategy ring --set topology.groups.gpu.count=16");
  command->callback([choices, &status] { status = exit_status("bound", show_bounds(*choices)); });
}

}  // namespace weir
