#include "apps/weir/text/compare_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/weir/text/op_words.h"
#include "core/base/units_text.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

constexpr std::size_t kMostSettings = 5;
constexpr std::size_t kMostMachines = 8;  // for how many machines the first difference of order is printed

// "+3.5 %"; "-" if there is none.
std::string percent(std::optional<double> error) {
  return error ? fmt::format("{:+.1f} %", 100 * *error) : "-";
}
std::string error(Duration a, Duration b) { return percent(relative_error(a, b)); }

std::string about(const char* name, const KeptRecord& kept) {
  const RecordHeader& header = kept.header;
  return fmt::format("{}  {}: {}, Weir {}, {} iteration{} after {}\n", name, kept.file, header.world,
                     header.weir, header.iterations - header.warm_up,
                     header.iterations - header.warm_up == 1 ? "" : "s", header.warm_up);
}

std::string introduction(const RecordComparison& all) {
  const RecordHeader& header = all.a.header;
  std::string text = about("A", all.a) + about("B", all.b);
  text += fmt::format("{}{}: plan {} of {} ops on {} machines\n", header.strategy,
                      header.point.empty() ? "" : " at " + header.point, header.plan_hash, header.ops,
                      header.machines);
  const auto differences = setting_differences(all.a.header, all.b.header);
  if (!differences.empty()) text += "  " + words(differences, kMostSettings) + "\n";
  return text +
         "Errors are those of A relative to B, (A - B) / B. Times are means over the measured iterations.\n";
}

std::string whole(const RecordComparison& all) {
  const Report& a = all.difference.a;
  const Report& b = all.difference.b;
  std::vector<Table::Cells> rows;
  const auto row = [&](const char* name, Duration in_a, Duration in_b) {
    rows.push_back({name, rounded(in_a), rounded(in_b), error(in_a, in_b)});
  };
  row("iteration", a.iteration, b.iteration);
  row("exposed communication", a.exposed, b.exposed);
  row("communication", a.communication, b.communication);
  row("compute", a.compute, b.compute);
  return weir::text({{"time", Side::kLeft}, {"A"}, {"B"}, {"error"}}, rows);
}

std::string stages(const RecordComparison& all) {
  std::vector<Table::Cells> rows;
  for (const StageDifference& stage : all.difference.stages) {
    rows.push_back({std::string(enum_name(stage.stage)), fmt::format("{}", stage.ops), rounded(stage.a.busy),
                    rounded(stage.b.busy), error(stage.a.busy, stage.b.busy), rounded(stage.a.mean),
                    rounded(stage.b.mean), error(stage.a.mean, stage.b.mean), rounded(stage.a.queueing),
                    rounded(stage.b.queueing)});
  }
  return weir::text({{"stage", Side::kLeft},
                     {"ops"},
                     {"busy A"},
                     {"busy B"},
                     {"error"},
                     {"mean A"},
                     {"mean B"},
                     {"error"},
                     {"queued A"},
                     {"queued B"}},
                    rows);
}

std::string classes(const RecordComparison& all) {
  std::vector<Table::Cells> rows;
  for (const ClassDifference& one : all.difference.classes) {
    const Errors& errors = one.errors;
    const auto cell = [&](double value) { return errors.ops == 0 ? "-" : percent(value); };
    rows.push_back({one.name, fmt::format("{}", one.ops), rounded(one.a), rounded(one.b), cell(errors.tenth),
                    cell(errors.median), cell(errors.ninetieth), cell(errors.worst)});
  }
  return weir::text({{"errors of ops", Side::kLeft},
                     {"ops"},
                     {"mean A"},
                     {"mean B"},
                     {"10th"},
                     {"median"},
                     {"90th"},
                     {"worst"}},
                    rows);
}

std::string ops(const RecordComparison& all) {
  if (all.difference.ops.empty()) return "Every op takes as long in A as in B.\n";
  std::vector<Table::Cells> rows;
  for (const OpDifference& one : all.difference.ops) {
    const OpWords words = op_words(all.a.of->plan.op(one.op), *all.a.of);
    rows.push_back({fmt::format("{}", one.op), words.what, words.layer, words.part, rounded(one.a),
                    rounded(one.b), error(one.a, one.b)});
  }
  return weir::text({{"op"},
                     {"that differs most", Side::kLeft},
                     {"layer", Side::kLeft},
                     {"part", Side::kLeft},
                     {"A"},
                     {"B"},
                     {"error"}},
                    rows);
}

class OrderText {
 public:
  explicit OrderText(const RecordComparison& all) : all_(all), of_(*all.a.of) {}

  std::string text() const {
    const Orders& orders = all_.orders;
    if (orders.equal()) {
      return fmt::format("Order of submission: equal on all {} machines, over {} iterations\n",
                         orders.machines.size(), orders.iterations) +
             rule("A", orders.a) + rule("B", orders.b);
    }
    std::vector<Table::Cells> rows;
    for (const MachineOrder& machine : orders.machines) {
      rows.push_back({of_.cluster.machine(machine.machine).name, fmt::format("{}", machine.submitted),
                      fmt::format("{}", machine.swapped), fmt::format("{}", machine.ready_in_other_order)});
    }
    std::string text = weir::text(
        {{"order of submission", Side::kLeft}, {"submitted"}, {"other order"}, {"due to completions"}}, rows);
    text += rule("A", orders.a) + rule("B", orders.b);
    std::size_t differing = 0;
    for (const MachineOrder& machine : orders.machines) {
      if (machine.first && differing++ < kMostMachines) text += "\n" + first(machine);
    }
    if (differing > kMostMachines)
      text += fmt::format("\nand {} more machines; --json shows all\n", differing - kMostMachines);
    return text;
  }

 private:
  // Whether the record follows the rule that an op is submitted when its dependencies have completed.
  std::string rule(const char* name, const Promptness& prompt) const {
    if (prompt.early > 0) {
      return fmt::format("{}: {} ops were submitted BEFORE their dependencies had completed, first {}\n",
                         name, prompt.early, turn(*prompt.first_early));
    }
    return fmt::format(
        "{}: every op was submitted after its dependencies had completed, {}\n", name,
        prompt.longest > Duration() ? "at most " + rounded(prompt.longest) + " later" : "at that instant");
  }

  std::string first(const MachineOrder& machine) const {
    const Swap& swap = *machine.first;
    return fmt::format(
        "{}: first difference: {} came before {} in A and after it in B\n"
        "  A  {}\n"
        "     {}\n"
        "  B  {}\n"
        "     {}\n",
        of_.cluster.machine(machine.machine).name, turn(swap.first), turn(swap.second),
        submission(swap.first, swap.first_in_a), submission(swap.second, swap.second_in_a),
        submission(swap.second, swap.second_in_b), submission(swap.first, swap.first_in_b));
  }

  std::string submission(const Turn& what, const Submitted& submitted) const {
    const std::string begin = fmt::format("op {} at {}", what.op, rounded(submitted.at - Instant()));
    if (!submitted.ready.after) return begin + ", waiting for nothing";
    return fmt::format("{}, as {} had completed at {}", begin, turn(*submitted.ready.after),
                       rounded(submitted.ready.at - Instant()));
  }

  std::string turn(const Turn& turn) const {
    return fmt::format("{} of iteration {}", whole_words(of_.plan.op(turn.op), of_), turn.iteration);
  }

  const RecordComparison& all_;
  const PlannedRun& of_;
};

}  // namespace

std::string name_of_a(const KeptRecord& a, const KeptRecord& b) {
  return a.header.world == b.header.world ? a.header.world + " (A)" : a.header.world;
}

std::string name_of_b(const KeptRecord& a, const KeptRecord& b) {
  return a.header.world == b.header.world ? b.header.world + " (B)" : b.header.world;
}

std::string text(const RecordComparison& comparison) {
  return introduction(comparison) + "\n" + whole(comparison) + "\n" + stages(comparison) + "\n" +
         classes(comparison) + "\n" + ops(comparison) + "\n" + OrderText(comparison).text();
}

}  // namespace weir
