#include "apps/weir/options/topology_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/formats/topology_text.h"
#include "studies/output/files.h"

namespace weir {
namespace {

template <class Unit>
Result<void> parse(const char* option, const std::string& text, Result<Unit> (*parser)(std::string_view),
                   std::optional<Unit>& into) {
  if (text.empty()) return {};
  const auto parsed = parser(text);
  if (!parsed) return failure(fmt::format("{}: {}", option, parsed.error().text));
  into = *parsed;
  return {};
}

}  // namespace

Result<nccl::UserValues> TopologyOptions::user_values() const {
  nccl::UserValues user_values;
  for (const auto& parsed : {parse("--nic-rate", nic_rate, parse_rate, user_values.nic_rate),
                             parse("--nvlink", nvlink_rate, parse_rate, user_values.nvlink_rate),
                             parse("--memory-rate", memory_rate, parse_rate, user_values.memory_rate),
                             parse("--sum-rate", sum_rate, parse_rate, user_values.sum_rate),
                             parse("--latency", latency, parse_duration, user_values.latency)}) {
    if (!parsed) return tl::unexpected(parsed.error());
  }
  return user_values;
}

void add_topology_options(CLI::App& command, TopologyOptions& options, const std::string& named,
                          const std::string& counted) {
  command.add_option("--out", options.out, "Where the topology goes (the standard output if left out)")
      ->type_name("FILE");
  command.add_option("--name", options.name, named);
  command.add_option("--count", options.count, counted)->check(CLI::Range(1, 4096));
  const auto quantity = [&](const char* name, std::string& into, const char* about, const char* type) {
    command.add_option(name, into, about)->type_name(type);
  };
  quantity("--latency", options.latency, "Latency of the network from NIC to NIC (5us if no NIC reports it)",
           "TIME");
  quantity("--nic-rate", options.nic_rate, "Rate of NICs that report no speed (10Gbps)", "RATE");
  quantity("--nvlink", options.nvlink_rate,
           "Rate of each GPU to an NVSwitch, each way, in place of the reported NVLinks", "RATE");
  quantity("--memory-rate", options.memory_rate,
           "Rate of each NUMA node's memory, for reads and writes together (unlimited)", "RATE");
  quantity("--sum-rate", options.sum_rate, "How fast each NUMA node's cores add (unlimited)", "RATE");
}

Result<ExitStatus> deliver(const char* command, const Imported& made, const std::string& out) {
  for (const std::string& warning : made.warnings) print_error("weir {}: {}\n", command, warning);
  const std::string text = topology_text(made.topology);
  if (out.empty()) {
    print("{}", text);
  } else if (const auto written = write_text(out, text); !written) {
    return tl::unexpected(written.error());
  }
  return kExitWell;
}

}  // namespace weir
