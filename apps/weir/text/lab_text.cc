#include "apps/weir/text/lab_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units_text.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

std::string addresses(const Cluster& cluster, MachineId machine) {
  std::vector<std::string> all;
  for (std::size_t nic = 0; nic < cluster.machine(machine).nics.size(); ++nic)
    all.push_back(real::lab_address(machine, static_cast<int>(nic)));
  return fmt::format("{}", fmt::join(all, "+"));
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

std::vector<std::string> lab_environment(const Cluster& cluster, MachineId machine) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) all.push_back(addresses(cluster, MachineId(i)));
  return {"WEIR_MACHINE=" + cluster.machine(machine).name, fmt::format("WEIR_RANK={}", machine),
          fmt::format("WEIR_MACHINES={}", cluster.machines().size()),
          fmt::format("WEIR_ADDRESSES={}", fmt::join(all, ","))};
}

BytesPerSecond shaped_rate(const Cluster& cluster, MachineId from, MachineId into) {
  BytesPerSecond least = BytesPerSecond::unlimited();
  const Route route = cluster.route(from, Memory::host(0), 0, into, Memory::host(0), 0);
  for (const LinkId id : route.links) {
    const Link& link = cluster.link(id);
    if (link.kind == Link::Kind::kNic || link.kind == Link::Kind::kRack) least = std::min(least, link.rate);
  }
  return least;
}

}  // namespace weir
