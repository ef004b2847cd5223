#include "apps/weir/text/lab_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

std::string percent_of(BytesPerSecond measured, BytesPerSecond rate) {
  if (!rate.limited()) return "-";
  return fmt::format("{:.2f} %",
                     100 * static_cast<double>(measured.value()) / static_cast<double>(rate.value()));
}

}  // namespace

std::string lab_table(const Cluster& cluster, const real::Keeper* keeper) {
  std::vector<Table::Column> columns = {
      {"rank"}, {"machine", Side::kLeft}, {"NIC", Side::kLeft}, {"address", Side::kLeft}, {"out"}, {"in"}};
  if (keeper != nullptr) columns.push_back({"network", Side::kLeft});
  std::vector<Table::Cells> rows;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    const Machine& machine = cluster.machine(MachineId(i));
    for (std::size_t nic = 0; nic < machine.nics.size(); ++nic) {
      rows.push_back({std::to_string(i), machine.name, machine.nics[nic].name,
                      real::lab_address(MachineId(i), static_cast<int>(nic)),
                      rounded(cluster.link(machine.nics[nic].out).rate),
                      rounded(cluster.link(machine.nics[nic].in).rate)});
      if (keeper != nullptr) rows.back().push_back(keeper->networks[i]);
    }
  }
  std::string all = text(std::move(columns), rows);
  for (const Link& link : cluster.links()) {
    if (link.kind == Link::Kind::kRack) all += fmt::format("{}: {}\n", link.name, rounded(link.rate));
  }
  return all;
}

std::string shares_text(const real::Keeper& keeper) {
  if (keeper.shares) return "CPU shares by cores: " + *keeper.shares;
  return "no CPU shares, machines take what they can: " + keeper.shares.error().text;
}

LabEvents shown_lines(const Cluster& cluster) {
  std::size_t width = 0;  // length of the longest name
  for (const Machine& machine : cluster.machines()) width = std::max(width, machine.name.size());
  LabEvents events;
  events.line = [width](const LabLine& line) {
    const std::string text = fmt::format("{:{}} | {}\n", line.machine, width, line.text);
    (void)std::fwrite(text.data(), 1, text.size(), line.errors ? stderr : stdout);
  };
  events.flushed = [] { std::fflush(stdout); };
  events.failed = [](const std::string& machine, const std::string& how) {
    print_error("weir lab: {}: {}\n", machine, how);
  };
  events.late = [] { print_error("weir lab: the time is up\n"); };
  return events;
}

std::string text(const std::vector<PairRate>& rates, const Cluster& cluster) {
  std::vector<Table::Cells> rows;
  for (const PairRate& one : rates) {
    rows.push_back({cluster.machine(one.from).name, cluster.machine(one.into).name, rounded(one.topology),
                    rounded(one.alone), percent_of(one.alone, one.topology), rounded(one.together),
                    percent_of(one.together, one.topology)});
  }
  return "One TCP connection from each machine to the next: alone, and all at once\n" +
         text(
             {{"from", Side::kLeft}, {"into", Side::kLeft}, {"topology"}, {"alone"}, {""}, {"at once"}, {""}},
             rows);
}

std::string text(const std::vector<MachineRates>& rates, const Cluster& cluster) {
  std::vector<Table::Cells> rows;
  for (const MachineRates& one : rates) {
    rows.push_back({cluster.machine(one.machine).name, rounded(one.topology_out), rounded(one.out),
                    percent_of(one.out, one.topology_out), rounded(one.topology_in), rounded(one.in),
                    percent_of(one.in, one.topology_in)});
  }
  return "A connection from each machine to each other one, all at once\n" +
         text({{"machine", Side::kLeft}, {"topology out"}, {"out"}, {""}, {"topology in"}, {"in"}, {""}},
              rows);
}

}  // namespace weir
