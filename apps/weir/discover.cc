#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/topology_options.h"
#include "apps/weir/text/output.h"
#include "backends/real/discovery/host_reader.h"
#include "backends/real/discovery/host_topology.h"
#include "studies/real/measure_parts.h"

namespace weir {
namespace {

struct DiscoverChoices {
  TopologyOptions topology;
  bool measure = false;
};

/// Today's date in UTC: "2026-03-01".
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

Result<ExitStatus> discover(const DiscoverChoices& choices) {
  const auto user_values = choices.topology.user_values();
  if (!user_values) return wrong("discover", user_values.error());
  auto parts = real::read_host();
  if (!parts) return tl::unexpected(parts.error());
  if (choices.measure) {
    if (auto measured =
            measure_parts(*parts, [](const std::string& line) { print_error("weir discover: {}\n", line); });
        !measured)
      return tl::unexpected(measured.error());
  }
  const auto made =
      real::host_topology(*parts, {choices.topology.name, choices.topology.count, *user_values, today()});
  if (!made) return tl::unexpected(made.error());
  return deliver("discover", *made, choices.topology.out);
}

}  // namespace

void add_discover(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("discover", "Makes a topology of this host");
  const auto choices = std::make_shared<DiscoverChoices>();
  add_topology_options(*command, choices->topology, "The topology's name (default: the host's name)",
                       "How many such machines the cluster has");
  command->add_flag("--measure", choices->measure,
                    "Measures how fast CPUs sum, memory moves bytes and GPUs copy: some seconds on all CPUs");
  command->footer(
      "Reads NUMA nodes, PCIe and NICs (hwloc, /sys) and NVIDIA's GPUs with their NVLinks (NVML). Rates of\n"
      "PCIe, NVLink and sockets are those that NCCL plans with, without the overhead of protocols.\n"
      "--measure replaces those of PCIe by rates of copies. Values that nothing reports are assumed. Each\n"
      "assumption is a line on standard error. NICs that are down are left out.\n\n"
      "Examples:\n"
      "  weir discover\n"
      "  weir discover --count 8 --measure --out mine.json && weir check mine.json\n"
      "  weir discover --nic-rate 25Gbps --latency 20us --out cloud.json");
  command->callback([choices, &status] { status = exit_status("discover", discover(*choices)); });
}

}  // namespace weir
