#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/bound_text.h"
#include "studies/run/configuration.h"

namespace weir {
namespace {

struct BoundChoices {
  Input input;
  std::optional<std::string> strategy;
};

Studied<ExitStatus> show_bounds(const BoundChoices& choices) {
  const auto experiment = choices.input.base();
  if (!experiment) return wrong_input(experiment.error());
  std::vector<std::string> strategies = experiment->strategies;
  if (choices.strategy) {
    if (const auto known = contender(*experiment, *choices.strategy); !known)
      return wrong_input("--strategy: " + known.error().text);
    strategies = {*choices.strategy};
  }
  warn_tuned_for_others("bound", choices.input, strategies, name_of(experiment->trace));
  const auto bounds = bounds_of(*experiment, strategies);
  if (!bounds) return wrong_input(bounds.error());
  if ((*bounds)->possible.empty())
    return failure("none of the strategies is possible\n" + text((*bounds)->impossible));
  show(**bounds);
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
      "Ignores the experiment's sweep; --set chooses other values. Nothing is simulated.\n"
      "Shows for one link or device of each kind: 'its time', how long an iteration keeps it busy; 'first',\n"
      "the least time of the iteration that all machines start together, if it is the bottleneck; and\n"
      "'steady', the same for the mean of a long run, in which iterations may overlap. The critical path is\n"
      "the longest chain of ops that wait for each other, each as fast as it is alone. The last tables are\n"
      "for the strategy with the least bound.\n\n"
      "Examples:\n"
      "  weir bound experiments/quickstart\n"
      "  weir bound experiments/quickstart --strategy ring --set topology.groups.gpu.count=16");
  command->callback([choices, &status] { status = exit_status("bound", show_bounds(*choices)); });
}

}  // namespace weir
