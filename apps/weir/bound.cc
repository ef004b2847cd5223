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

struct Bounds {
  std::vector<Bounded> possible;
  std::string others;  // a line for each strategy that has no plan
};

Bounds bounds_of(const Experiment& experiment, const Cluster& cluster, const Workload& workload,
                 const std::vector<std::string>& names) {
  Bounds bounds;
  const auto skip = [&](const std::string& name, const Error& why) {
    bounds.others += fmt::format("{}: {}\n", name, why.text);
  };
  for (const std::string& name : names) {
    const auto strategy = strategy_named(name);
    if (const auto fits = check_size(**strategy, cluster, workload, experiment.options); !fits) {
      skip(name, fits.error());
      continue;
    }
    auto plan = (*strategy)->plan(cluster, workload, experiment.options);
    if (!plan) {
      skip(name, plan.error());
      continue;
    }
    const Bound bound = plan_bound(*plan, cluster, workload);
    bounds.possible.push_back({std::move(*plan), bound});
  }
  return bounds;
}

Result<ExitStatus> show_bounds(const Choices& choices) {
  const auto experiment = choices.input.base();
  if (!experiment) return wrong("bound", experiment.error());
  const Cluster cluster(experiment->topology);
  const Workload workload(experiment->trace);
  const bool one = !choices.strategy.empty();
  const Bounds bounds =
      bounds_of(*experiment, cluster, workload, one ? std::vector{choices.strategy} : experiment->strategies);
  if (bounds.possible.empty()) return failure("none of the strategies is possible\n" + bounds.others);

  const Bound any = cluster_bound(cluster, workload);
  print("{} ({}) on {}: {} machines with GPUs, {} without\n", experiment->trace.name,
        rounded(workload.size()), experiment->topology.name, cluster.gpu_machines().size(),
        cluster.cpu_machines().size());
  print("No plan takes less than {} an iteration, because of {}\n\n", rounded(any.time), any.binding);
  print("{}", bounds.others);
  std::vector<Table::Cells> rows;
  for (const Bounded& bounded : bounds.possible) {
    const double ratio = any.time > Duration(0) ? bounded.bound.time / any.time : 1.0;
    rows.push_back({bounded.plan.strategy(), rounded(bounded.bound.time), fmt::format("{:.3f}x", ratio),
                    bounded.bound.binding});
  }
  print("{}",
        text({{"strategy", Side::kLeft}, {"its bound"}, {"over that"}, {"binding", Side::kLeft}}, rows));
  show_links(
      *std::min_element(bounds.possible.begin(), bounds.possible.end(),
                        [](const Bounded& a, const Bounded& b) { return a.bound.time < b.bound.time; }),
      cluster);
  return kExitWell;
}

}  // namespace

void add_bound(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("bound", "Says what no schedule can beat, and which resource sets it");
  const auto choices = std::make_shared<Choices>();
  add_input(*command, choices->input);
  add_strategy(*command, choices->strategy, "This strategy only (all of the experiment if left out)");
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
