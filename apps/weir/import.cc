#include <fmt/format.h>

#include "apps/weir/commands.h"
#include "apps/weir/files.h"
#include "apps/weir/input.h"
#include "apps/weir/output.h"
#include "core/base/units_text.h"
#include "core/formats/nccl_topology.h"
#include "core/formats/topology_text.h"

namespace weir {
namespace {

struct Choices {
  NcclImport what;
  std::string out;
  std::string nic_rate;
  std::string nvlink_rate;
  std::string memory_rate;
  std::string sum_rate;
  std::string latency;
};

template <class Unit>
Result<void> parse(const char* option, const std::string& text, Result<Unit> (*parser)(std::string_view),
                   std::optional<Unit>& into) {
  if (text.empty()) return {};
  const auto parsed = parser(text);
  if (!parsed) return failure(fmt::format("{}: {}", option, parsed.error().text));
  into = *parsed;
  return {};
}

Result<ExitStatus> import_topology(Choices choices) {
  nccl::Unsaid& unsaid = choices.what.unsaid;
  for (const auto& parsed : {parse("--nic-rate", choices.nic_rate, parse_rate, unsaid.nic_rate),
                             parse("--nvlink", choices.nvlink_rate, parse_rate, unsaid.nvlink_rate),
                             parse("--memory-rate", choices.memory_rate, parse_rate, unsaid.memory_rate),
                             parse("--sum-rate", choices.sum_rate, parse_rate, unsaid.sum_rate),
                             parse("--latency", choices.latency, parse_duration, unsaid.latency)}) {
    if (!parsed) return wrong("import", parsed.error());
  }
  const auto imported = import_nccl(choices.what);
  if (!imported) return wrong("import", imported.error());
  for (const std::string& warning : imported->warnings) print_error("weir import: {}\n", warning);
  const std::string text = topology_text(imported->topology);
  if (choices.out.empty()) {
    print("{}", text);
  } else if (const auto written = write_text(choices.out, text); !written) {
    return tl::unexpected(written.error());
  }
  return kExitWell;
}

}  // namespace

void add_import(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("import", "Makes topologies of other programs' files");
  command->require_subcommand(1);
  command->footer(
      "Each format tells more: weir import nccl-topo --help\n\n"
      "Example:\n"
      "  weir import nccl-topo machine.xml --count 8 --out topologies/mine.json");

  CLI::App* nccl = command->add_subcommand(
      "nccl-topo", "A topology of the XML that NCCL writes (NCCL_TOPO_DUMP_FILE) or a cloud provides");
  const auto choices = std::make_shared<Choices>();
  nccl->add_option("files", choices->what.files, "One file a machine; equal machines become one group")
      ->required()
      ->type_name("FILE");
  nccl->add_option("--out", choices->out, "Where the topology goes (the standard output if left out)")
      ->type_name("FILE");
  nccl->add_option("--name", choices->what.name, "The topology's name (that of the first file if left out)");
  nccl->add_option("--count", choices->what.count, "How many machines each file stands for")
      ->check(CLI::Range(1, 4096));
  const auto quantity = [&](const char* name, std::string& into, const char* about, const char* type) {
    nccl->add_option(name, into, about)->type_name(type);
  };
  quantity("--latency", choices->latency, "Of the network, from NIC to NIC (5us if no NIC tells it)", "TIME");
  quantity("--nic-rate", choices->nic_rate, "Of NICs whose speed is not told (10Gbps)", "RATE");
  quantity("--nvlink", choices->nvlink_rate,
           "Of each GPU to an NVSwitch, each way, in place of the NVLinks of the file", "RATE");
  quantity("--memory-rate", choices->memory_rate,
           "What each NUMA node's memory reads and writes, both together (unlimited)", "RATE");
  quantity("--sum-rate", choices->sum_rate, "How fast each NUMA node's cores add (unlimited)", "RATE");
  nccl->footer(
      "Rates are those that NCCL itself plans with, after the loss of protocols: PCIe width x speed / 80,\n"
      "NVLink by the GPU's generation, sockets by the CPU's, NICs as their speed says. What a file does not\n"
      "tell is assumed as NCCL does, and each assumption is a line on the error stream.\n\n"
      "To have NCCL write the file, run any job on the machine with NCCL_TOPO_DUMP_FILE=machine.xml.\n\n"
      "Examples:\n"
      "  weir import nccl-topo machine.xml --count 8 --out mine.json && weir check mine.json\n"
      "  weir import nccl-topo host1.xml host2.xml --latency 3us --memory-rate 300GB/s --sum-rate 100GB/s\n"
      "  weir import nccl-topo /opt/microsoft/ndv5-topo.xml --nic-rate 400Gbps --nvlink 370GB/s");
  nccl->callback([choices, &status] { status = exit_status("import", import_topology(*choices)); });
}

}  // namespace weir
