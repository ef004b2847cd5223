#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/export_goal.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/cluster/topology_file.h"
#include "core/formats/graphviz.h"
#include "core/formats/simgrid.h"
#include "studies/output/files.h"

namespace weir {
namespace {

struct ExportChoices {
  std::string topology;
  std::string out;
};

using Format = Result<std::string> (*)(const Topology&);

Result<ExitStatus> export_topology(const ExportChoices& choices, Format format) {
  if (const auto apart = check_no_input(choices.out, {choices.topology}); !apart)
    return wrong("export", apart.error());
  const auto topology = read_topology(choices.topology);
  if (!topology) return wrong("export", topology.error());
  const auto text = format(*topology);
  if (!text) return wrong("export", text.error());
  if (choices.out.empty()) {
    print("{}", *text);
  } else if (const auto written = write_text(choices.out, *text); !written) {
    return tl::unexpected(written.error());
  }
  return kExitWell;
}

void add_format(CLI::App& command, ExitStatus& status, const char* name, const char* about,
                const char* footer, Format format) {
  CLI::App* one = command.add_subcommand(name, about);
  const auto choices = std::make_shared<ExportChoices>();
  one->add_option("topology", choices->topology, "A topology file")->required()->type_name("FILE");
  one->add_option("--out", choices->out, "Where the text goes (the standard output if left out)")
      ->type_name("FILE");
  one->footer(footer);
  one->callback(
      [choices, format, &status] { status = exit_status("export", export_topology(*choices, format)); });
}

}  // namespace

void add_export(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("export", "Writes topologies and plans in other programs' formats");
  command->require_subcommand(1);
  command->footer(
      "A drawn picture, as PNG and PDF: plots/machine.py topologies/h200-nvlink.json h200\n"
      "A timeline of a run, for Perfetto: weir run EXPERIMENT --set 'timelines=[\"all\"]'\n\n"
      "Examples:\n"
      "  weir export graphviz topologies/h200-nvlink.json | dot -Tsvg > h200.svg\n"
      "  weir export simgrid topologies/racks-oversubscribed.json --out racks.xml\n"
      "  weir export goal experiments/quickstart --strategy ring --out ring.goal");
  add_format(
      *command, status, "simgrid", "A platform file for SimGrid's own simulators and tools",
      "Writes a host for each memory (gpu[0].numa0, gpu[0].gpu3), and the links and routes of the cluster\n"
      "with their rates and latencies. A memory that is near several NICs uses one of them.\n\n"
      "Examples:\n"
      "  weir export simgrid topologies/toy-two-machines.json --out toy.xml\n"
      "  smpirun -platform toy.xml -hostfile hosts -np 2 --cfg=network/model:CM02 ./program    # MPI\n"
      "  simgrid-graphicator toy.xml toy.dot    # its links as a graph",
      simgrid_platform);
  add_format(*command, status, "graphviz", "A graph of one machine of each group and the network, for dot",
             "Edges show rates: two if the directions differ, none if unlimited.\n\n"
             "Example:\n"
             "  weir export graphviz topologies/byteps-v100-pcie.json | dot -Tsvg > machine.svg",
             [](const Topology& topology) -> Result<std::string> { return topology_graphviz(topology); });
  add_export_goal(*command, status);
}

}  // namespace weir
