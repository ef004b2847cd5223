#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/import_trace.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/topology_options.h"
#include "core/formats/nccl/nccl_topology.h"
#include "studies/output/files.h"

namespace weir {
namespace {

struct ImportChoices {
  std::vector<std::string> files;
  TopologyOptions topology;
};

Result<ExitStatus> import_topology(const ImportChoices& choices) {
  const auto user_values = choices.topology.user_values();
  if (!user_values) return wrong("import", user_values.error());
  if (const auto apart = check_no_input(choices.topology.out, choices.files); !apart)
    return wrong("import", apart.error());
  const auto imported =
      import_nccl({choices.files, choices.topology.name, choices.topology.count, *user_values});
  if (!imported) return wrong("import", imported.error());
  return deliver("import", *imported, choices.topology.out);
}

}  // namespace

void add_import(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("import", "Makes topologies and traces from other programs' files");
  command->require_subcommand(1);
  command->footer(
      "All options of a format: weir import nccl-topo --help\n\n"
      "Examples:\n"
      "  weir import nccl-topo machine.xml --count 8 --out topologies/mine.json\n"
      "  weir import kineto resnet.json.gz --batch 256 --sample image --out traces/mine.json");

  CLI::App* nccl = command->add_subcommand(
      "nccl-topo", "Makes a topology from XML that NCCL writes (NCCL_TOPO_DUMP_FILE) or a cloud provides");
  const auto choices = std::make_shared<ImportChoices>();
  nccl->add_option("files", choices->files, "One file for each machine; equal machines become one group")
      ->required()
      ->type_name("FILE");
  add_topology_options(*nccl, choices->topology, "The topology's name (default: the first file's name)",
                       "How many machines each file stands for");
  nccl->footer(
      "Rates are those that NCCL itself plans with, without the overhead of protocols: PCIe width x speed /\n"
      "80, NVLink by the GPU's generation, sockets by the CPU's, NICs by their speed. Values that a file\n"
      "does not state are assumed as NCCL does. Each assumption is a line on standard error.\n\n"
      "To have NCCL write the file, run any job on the machine with NCCL_TOPO_DUMP_FILE=machine.xml.\n\n"
      "Examples:\n"
      "  weir import nccl-topo machine.xml --count 8 --out mine.json && weir check mine.json\n"
      "  weir import nccl-topo host1.xml host2.xml --latency 3us --memory-rate 300GB/s --sum-rate 100GB/s\n"
      "  weir import nccl-topo /opt/microsoft/ndv5-topo.xml --nic-rate 400Gbps --nvlink 370GB/s");
  nccl->callback([choices, &status] { status = exit_status("import", import_topology(*choices)); });
  add_trace_imports(*command, status);
}

}  // namespace weir
