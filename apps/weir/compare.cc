#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/compare_text.h"
#include "apps/weir/text/output.h"
#include "core/report/timeline.h"
#include "studies/output/files.h"

namespace weir {
namespace {

constexpr std::size_t kMostOps = 10;

struct CompareChoices {
  std::string a;
  std::string b;
  RecordChoice which;
  std::string point;
  std::uint64_t seed = 0;
  std::string timeline;
  bool json = false;
};

Result<void> draw(const KeptRecord& a, const KeptRecord& b, const std::string& file) {
  const auto drawn = [](const KeptRecord& kept, std::string name) {
    return Drawn{std::move(name),          kept.of->plan, kept.cluster(),
                 kept.of->workload,        *kept.record,  static_cast<int>(kept.header.warm_up),
                 kept.of->experiment.model};
  };
  return write_text(file, timelines(std::vector{drawn(a, name_of_a(a, b)), drawn(b, name_of_b(a, b))}));
}

Result<ExitStatus> compare(const CompareChoices& choices) {
  const auto a = kept_record(choices.a, choices.which);
  if (!a) return wrong("compare", a.error());
  const auto b = choices.b.empty() ? kept_prediction(*a) : kept_record(choices.b, choices.which);
  if (!b) return wrong("compare", b.error());
  if (const auto alike = check_alike(*a, *b); !alike) return wrong("compare", alike.error());
  if (const auto apart = check_no_input(choices.timeline, {a->file, b->file}); !apart)
    return wrong("compare", apart.error());
  const Difference difference = weir::difference(a->recorded(), b->recorded(), kMostOps);
  const Orders orders = weir::orders(a->recorded(), b->recorded());
  const RecordComparison all{*a, *b, difference, orders};
  if (choices.json) {
    print("{}", json(all));
  } else {
    print("{}", text(all));
  }
  if (!choices.timeline.empty()) {
    if (const auto written = draw(*a, *b, choices.timeline); !written) return tl::unexpected(written.error());
    if (!choices.json) print("\n{} holds both timelines\n", choices.timeline);
  }
  if (orders.explained()) return kExitWell;
  return failure("ops were submitted before their dependencies had completed: a core or a record is wrong");
}

}  // namespace

void add_compare(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("compare", "Compares two records of one plan, op by op");
  const auto choices = std::make_shared<CompareChoices>();
  command->add_option("A", choices->a, "The record to judge, or the folder of a run's results")
      ->required()
      ->type_name("RECORD");
  command
      ->add_option("B", choices->b,
                   "The record to compare it with (if left out, A's prediction, which is kept beside A)")
      ->type_name("RECORD");
  command->add_option("--strategy", choices->which.strategy, "Takes a folder's records of this strategy")
      ->check(not_empty("a strategy"))
      ->type_name("NAME");
  CLI::Option* point =
      command
          ->add_option("--point", choices->point,
                       "Takes a folder's records at this point of the sweep: 'topology.groups.cpu.count=4'")
          ->type_name("VALUES");
  CLI::Option* seed = command->add_option("--seed", choices->seed, "Takes a folder's records with this seed")
                          ->check(whole_number_from(0));
  command->add_option("--timeline", choices->timeline, "A file to draw both runs in, one above the other")
      ->type_name("FILE");
  command->add_flag("--json", choices->json, "Prints the comparison as JSON");
  command->footer(
      "'weir run EXPERIMENT --records' keeps a record of each run: when each op of the plan was submitted,\n"
      "started and completed. Both records must be of the same plan: from a simulation and a real run, from\n"
      "two versions of Weir, or from two topologies whose rates do not change the plan. The output shows\n"
      "* the time of an iteration, and the error (A - B) / B of A;\n"
      "* for each stage: how long a machine has any of its ops under way in an iteration (busy), how long\n"
      "  an op takes, and how long it is queued before that. A message begins at its sender and ends when\n"
      "  both ends are done;\n"
      "* for each kind of op and machine: how the errors of single ops are spread;\n"
      "* the ten ops whose times differ most;\n"
      "* whether each node submitted its ops in the same order. If not: the first two ops that\n"
      "  changed places, and the completion before each. Ops submitted at the same instant have no order.\n"
      "If an op was submitted before its dependencies had completed, the exit status is 1.\n"
      "The timeline opens in https://ui.perfetto.dev: each machine in A above the same machine in B. Both\n"
      "begin at 0.\n\n"
      "Examples:\n"
      "  weir run mine.json --records --out simulated\n"
      "  weir run mine.json --records --out real --on local\n"
      "  weir compare simulated real --strategy unified --timeline both.json\n"
      "  weir compare real --strategy unified    # with the simulation at the rates measured beside the run");
  command->callback([choices, point, seed, &status] {
    if (point->count() > 0) choices->which.point = choices->point;
    if (seed->count() > 0) choices->which.seed = choices->seed;
    status = exit_status("compare", compare(*choices));
  });
}

}  // namespace weir
