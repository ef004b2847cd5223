#include "apps/weir/text/plan_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apps/weir/text/output.h"
#include "core/analysis/bound.h"
#include "core/analysis/loads.h"
#include "core/base/units_text.h"
#include "core/experiment/experiment_file.h"
#include "core/plan/fit.h"
#include "core/strategies/strategy.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

std::string percent(double fraction) { return fmt::format("{:.2f} %", 100 * fraction); }

// Neighbouring machines with equal values share one line.
void show_machines(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  std::vector<Table::Cells> rows;
  std::vector<std::string> last;  // for each row, the last machine that it covers
  const std::vector<MachineLoad> loads = machine_loads(plan, cluster, works);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const MachineLoad& load = loads[i];
    const std::string& name = cluster.machines()[i].name;
    Table::Cells cells = {name,
                          percent(load.share),
                          rounded(load.summed),
                          rounded(load.in),
                          rounded(load.out),
                          rounded(load.busiest_nic),
                          rounded(load.host_memory),
                          rounded(load.gpu_memory)};
    if (!rows.empty() && std::equal(cells.begin() + 1, cells.end(), rows.back().begin() + 1)) {
      last.back() = name;
      continue;
    }
    rows.push_back(std::move(cells));
    last.push_back(name);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (last[i] != rows[i][0]) rows[i][0] += " to " + last[i];
  }
  print("{}", text({{"machine", Side::kLeft},
                    {"share of sums"},
                    {"summed"},
                    {"received"},
                    {"sent"},
                    {"busiest NIC"},
                    {"host memory"},
                    {"each GPU"}},
                   rows));
}

// One note for each group and kind of memory.
void show_shortages(const Plan& plan, const Cluster& cluster) {
  std::set<std::pair<std::string, Memory::Kind>> noted;
  for (const Shortage& shortage : shortages(plan, cluster)) {
    const Machine& machine = cluster.machine(shortage.machine);
    if (!noted.emplace(machine.group, shortage.memory.kind).second) continue;
    print("\nNote: {}.{} has {} of memory, but this plan alone takes {}, so it cannot be proved",
          machine.name, shortage.name, rounded(shortage.room), rounded(shortage.taken));
  }
}

void show_options(const Options& options) {
  constexpr std::size_t kColumns = 110;
  std::string text;
  std::size_t line = 0;  // length of the current line
  const nlohmann::ordered_json written = write_options(options);
  for (const auto& [key, value] : written.items()) {
    const std::string one =
        fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
    if (!text.empty()) text += line + one.size() > kColumns ? ",\n" : ", ";
    line = text.ends_with('\n') || text.empty() ? one.size() : line + 2 + one.size();
    text += one;
  }
  print("{}\n", text);
}

// Prints the strategy inside the machines, and why it was chosen.
void show_local(const Contender& contender, const Trace& trace, const Cluster& cluster) {
  if (contender.strategy->local == nullptr) return;
  const auto local = contender.strategy->local(cluster, most_common_dtype(trace), contender.options);
  if (!local) return;
  for (const LocalChoice::Reason& reason : local->reasons) {
    const std::string& first = cluster.machine(reason.machines.front()).name;
    const std::string& last = cluster.machine(reason.machines.back()).name;
    print("local stage of {}: {}, as {}\n", first == last ? first : fmt::format("{} to {}", first, last),
          enum_name(reason.stage), reason.why);
  }
}

template <class BoundOf>
std::string both(const BoundOf& bound_of) {
  const Bound first = bound_of(Stretch::first());
  const Bound steady = bound_of(Stretch::steady());
  return fmt::format("{} by {} in the first iteration, {} by {} in steady state", rounded(first.time),
                     first.binding, rounded(steady.time), steady.binding);
}

}  // namespace

void show(const Contender& contender, const Experiment& experiment, const Plan& plan, const Cluster& cluster,
          const Workload& workload) {
  print("{} for {} ({}) on {}: {} machines with GPUs, {} without\n", plan.strategy(), experiment.trace.name,
        rounded(workload.size()), experiment.topology.name, cluster.gpu_machines().size(),
        cluster.cpu_machines().size());
  show_options(contender.options);
  show_local(contender, experiment.trace, cluster);
  print("{} ops, {} messages\n\n", plan.ops().size(), plan.messages().size());
  const WorkTable works(plan, cluster);
  show_machines(plan, cluster, works);

  show_shortages(plan, cluster);
  const Busiest most = busiest(plan, cluster, works);
  print("\nLargest load: {} for {}", rounded(most.time), most.name.empty() ? "nothing" : most.name);
  if (const auto least = ideal(cluster, workload, contender.options); least && *least > Duration(0)) {
    print(", {:.4f} of the optimal split's {}", most.time / *least, rounded(*least));
  }
  print("\nBound of this plan: {}\n",
        both([&](const Stretch& stretch) { return plan_bound(plan, cluster, works, workload, stretch); }));
  print("Bound of any plan: {}\n",
        both([&](const Stretch& stretch) { return cluster_bound(cluster, workload, stretch); }));
}

std::string text(const Proof& proof) {
  return fmt::format(
      "Proved: {} ops without a cycle, {} messages matched, {} pairs of accesses ordered, {} of gradients "
      "summed over all GPUs, each once\n",
      proof.ops, proof.messages, proof.ordered, rounded(proof.summed));
}

}  // namespace weir
