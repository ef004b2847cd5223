#include "apps/weir/export_goal.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/experiment/planned_run.h"
#include "core/formats/goal.h"
#include "core/hardware/work.h"
#include "studies/output/files.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

struct ExportGoalChoices {
  Input input;
  std::optional<std::string> strategy;
  int iterations = 1;
  std::string out;
};

// CPU 0 sends and receives. Each device of a machine has its own CPU. Ops that use no device share one more.
std::vector<GoalWork> goal_works(const Plan& plan, const Cluster& cluster) {
  const WorkTable works(plan, cluster);
  std::vector<GoalWork> found(plan.ops().size());
  std::map<Resource, int> cpus;
  std::map<MachineId, int> count;
  for (const Op& op : plan.ops()) {
    if (is_message(op.kind)) continue;
    Resource resource = {op.machine, Resource::Kind::kTimer, 0};
    if (asks(op.kind)) resource = works.resources()[works.of(op.id).resource];
    const auto [cpu, fresh] = cpus.try_emplace(resource, 0);
    if (fresh) cpu->second = ++count[op.machine];
    found[op.id.index()] = {asks(op.kind) ? works.shortest(op.id) : Duration(0), cpu->second};
  }
  return found;
}

Result<ExitStatus> export_goal(const ExportGoalChoices& choices) {
  const auto file = choices.input.read();
  if (!file) return wrong("export", file.error());
  if (const auto apart = check_no_input(choices.out, choices.input.files(*file)); !apart)
    return wrong("export", apart.error());
  const auto experiment = file->experiment({});
  if (!experiment) return wrong("export", experiment.error());
  const Cluster cluster = cluster_of(*experiment);
  const Workload workload(experiment->trace);
  const std::string name = choices.strategy.value_or(experiment->strategies.front());
  const auto found = contender(*experiment, name);
  if (!found) return wrong("export", Error{"--strategy: " + found.error().text});
  warn_tuned_for_others("export", choices.input, {name}, name_of(experiment->trace));
  const auto plan = planned(*found, cluster, workload);
  if (!plan) return failure(fmt::format("{}: {}", name, plan.error().text));
  if (!plan->all_reduces().empty()) {
    return wrong("export", Error{fmt::format("{}: GOAL has messages, and no all-reduce as one op; use a "
                                             "'collective' other than nccl",
                                             name)});
  }
  const auto text = goal(*plan, goal_works(*plan, cluster), choices.iterations);
  if (!text) return tl::unexpected(text.error());
  if (choices.out.empty()) {
    print("{}", *text);
  } else if (const auto written = write_text(choices.out, *text); !written) {
    return tl::unexpected(written.error());
  }
  return kExitWell;
}

}  // namespace

void add_export_goal(CLI::App& command, ExitStatus& status) {
  CLI::App* one = command.add_subcommand("goal", "A plan as a schedule in GOAL, for LogGOPSim and ATLAHS");
  const auto choices = std::make_shared<ExportGoalChoices>();
  add_input(*one, choices->input);
  add_strategy(*one, choices->strategy, "The strategy (the first of the experiment if left out)");
  one->add_option("--iterations", choices->iterations, "Number of iterations, one after the other (1)")
      ->check(CLI::Range(1, 1000));
  one->add_option("--out", choices->out, "Where the text goes (the standard output if left out)")
      ->check(not_empty("a file"))
      ->type_name("FILE");
  one->footer(
      "Each machine becomes a rank. Each message becomes a send and a receive with a tag of their own.\n"
      "Every other op becomes a calculation that takes as long as the op takes alone, on one CPU per\n"
      "device; CPU 0 sends and receives. The simulator sets the network's latency, rates and\n"
      "priorities.\n\n"
      "Examples:\n"
      "  weir export goal experiments/quickstart --strategy ring --out ring.goal\n"
      "  txt2bin -i ring.goal -o ring.bin && LogGOPSim -f ring.bin    # of LogGOPSim");
  one->callback([choices, &status] { status = exit_status("export", export_goal(*choices)); });
}

}  // namespace weir
