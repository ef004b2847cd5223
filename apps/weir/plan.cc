#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/plan_text.h"
#include "core/experiment/planned_run.h"
#include "core/plan/print.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

struct PlanChoices {
  Input input;
  std::optional<std::string> strategy;
  bool text = false;
  bool graphviz = false;
  bool prove = false;
};

Result<ExitStatus> make_plan(const PlanChoices& choices) {
  auto experiment = choices.input.base();
  if (!experiment) return wrong("plan", experiment.error());
  const Cluster cluster = cluster_of(*experiment);
  const Workload workload(experiment->trace);
  const std::string name = choices.strategy.value_or(experiment->strategies.front());
  const auto found = contender(*experiment, name);
  if (!found) return wrong("plan", Error{"--strategy: " + found.error().text});
  warn_tuned_for_others("plan", choices.input, {name}, name_of(experiment->trace));
  const auto plan = planned(*found, cluster, workload);
  if (!plan) return failure(fmt::format("{}: {}", name, plan.error().text));
  if (choices.text) {
    print("{}", text(*plan));
  } else if (choices.graphviz) {
    print("{}", graphviz(*plan));
  } else {
    show(*found, *experiment, *plan, cluster, workload);
  }
  if (!choices.prove) return kExitWell;
  const auto proof = prove(*plan, cluster, workload);
  if (!proof) return failure("the plan is wrong:\n" + proof.error().text);
  const std::string proved = text(*proof);
  if (choices.text || choices.graphviz) {
    print_error("{}", proved);  // kept apart from the text of the plan
  } else {
    print("{}", proved);
  }
  return kExitWell;
}

}  // namespace

void add_plan(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("plan", "Shows what a strategy plans: who sends, sums and stores how much");
  const auto choices = std::make_shared<PlanChoices>();
  add_input(*command, choices->input);
  add_strategy(*command, choices->strategy, "The strategy (the first of the experiment if left out)");
  CLI::Option* text = command->add_flag("--text", choices->text, "Prints the plan, a line for each op");
  command->add_flag("--graphviz", choices->graphviz, "Prints the plan as a graph, for 'dot -Tsvg'")
      ->excludes(text);
  command->add_flag(
      "--prove", choices->prove,
      "Proves that no schedule of the plan deadlocks or races, and that every gradient ends as the\n"
      "sum of all");
  command->footer(
      "Ignores the experiment's sweep; --set chooses other values. Nothing is simulated.\n\n"
      "Examples:\n"
      "  weir plan experiments/quickstart\n"
      "  weir plan experiments/quickstart --strategy ps --set topology.groups.cpu.count=4 --prove\n"
      "  weir plan tiny.json --strategy ring --graphviz | dot -Tsvg > ring.svg");
  command->callback([choices, &status] { status = exit_status("plan", make_plan(*choices)); });
}

}  // namespace weir
