#include "backends/real/lab/lab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/lab_text.h"
#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "studies/lab/lab_run.h"
#include "studies/lab/link_rates.h"
#include "studies/process/signals.h"

namespace weir {
namespace {

constexpr Duration kShortest(10'000'000);  // of a measurement: time for at least a few packets of 64 KiB

struct LabChoices {
  std::string topology;
  std::vector<std::string> settings;
  std::vector<std::string> command;
  std::string deadline;
  std::string time = "2s";
  bool commands = false;
};

Result<Cluster> cluster_of(const LabChoices& choices) {
  const auto topology = topology_of(choices.topology, choices.settings);
  if (!topology) return tl::unexpected(topology.error());
  return Cluster(*topology);
}

// The kept lab of the cluster, or a new one that ends with this command.
Result<std::unique_ptr<real::Lab>> lab_of(const Cluster& cluster) {
  return real::Lab::kept(cluster.name()) ? real::Lab::join(cluster) : real::Lab::up(cluster);
}

Result<ExitStatus> up(const LabChoices& choices) {
  const auto cluster = cluster_of(choices);
  if (!cluster) return wrong("lab", cluster.error());
  const auto wired = real::wiring(*cluster);
  if (!wired) return wrong("lab", wired.error());
  if (choices.commands) {
    print("{}", wired->text());
    return kExitWell;
  }
  const auto keeper = real::Lab::keep(*cluster);
  if (!keeper) return tl::unexpected(keeper.error());
  print("{} is up, kept by process {}\n{}{}\n", cluster->name(), keeper->process,
        lab_table(*cluster, &*keeper), shares_text(*keeper));
  return kExitWell;
}

Result<ExitStatus> down(const LabChoices& choices) {
  const auto cluster = cluster_of(choices);
  if (!cluster) return wrong("lab", cluster.error());
  if (const auto ended = real::Lab::down(cluster->name()); !ended) return tl::unexpected(ended.error());
  print("{} is down\n", cluster->name());
  return kExitWell;
}

Result<ExitStatus> run(const LabChoices& choices) {
  const auto cluster = cluster_of(choices);
  if (!cluster) return wrong("lab", cluster.error());
  std::optional<Duration> deadline;
  if (!choices.deadline.empty()) {
    const auto parsed = parse_duration(choices.deadline);
    if (!parsed) return wrong("lab", Error{"--deadline: " + parsed.error().text});
    deadline = *parsed;
  }
  if (const auto wired = real::wiring(*cluster); !wired) return wrong("lab", wired.error());
  const Signals signals;
  const auto lab = lab_of(*cluster);
  if (!lab) return tl::unexpected(lab.error());
  const auto ended = run_in_lab(**lab, *cluster, choices.command, deadline, signals, shown_lines(*cluster));
  if (!ended) return tl::unexpected(ended.error());
  if (ended->signal) return 128 + *ended->signal;
  return ended->failed || ended->late ? kExitFailed : kExitWell;
}

Result<ExitStatus> rate(const LabChoices& choices) {
  const auto cluster = cluster_of(choices);
  if (!cluster) return wrong("lab", cluster.error());
  const auto time = parse_duration(choices.time);
  if (!time) return wrong("lab", Error{"--time: " + time.error().text});
  if (*time < kShortest) {
    return wrong("lab",
                 Error{fmt::format("--time: expected at least {}, since less is too short to measure; got {}",
                                   text(kShortest), choices.time)});
  }
  if (cluster->machines().size() < 2)
    return wrong("lab",
                 Error{fmt::format("{} has one machine, so there is no link to measure", cluster->name())});
  if (const auto wired = real::wiring(*cluster); !wired) return wrong("lab", wired.error());
  const auto lab = lab_of(*cluster);
  if (!lab) return tl::unexpected(lab.error());
  const real::RateSettings settings{.time = *time};
  const auto pairs = pair_rates(**lab, *cluster, settings);
  if (!pairs) return tl::unexpected(pairs.error());
  print("{}", text(*pairs, *cluster));
  const auto all = all_to_all_rates(**lab, *cluster, settings);
  if (!all) return tl::unexpected(all.error());
  print("\n{}", text(*all, *cluster));
  return kExitWell;
}

using Act = Result<ExitStatus> (*)(const LabChoices&);

CLI::App* add_act(CLI::App& command, ExitStatus& status, const std::shared_ptr<LabChoices>& choices,
                  const char* name, const char* about, Act act) {
  CLI::App* one = command.add_subcommand(name, about);
  one->add_option("topology", choices->topology, "A topology file")->required()->type_name("FILE");
  add_topology_settings(*one, choices->settings);
  one->callback([choices, act, &status] { status = exit_status("lab", act(*choices)); });
  return one;
}

}  // namespace

void add_lab(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("lab", "Emulates a cluster on this host: a network for each machine, shaped links");
  command->require_subcommand(1);
  const auto choices = std::make_shared<LabChoices>();
  CLI::App* one = add_act(*command, status, choices, "up", "Starts a lab that lasts until weir lab down", up);
  one->add_flag("--commands", choices->commands, "Only prints the commands to ip, tc and the kernel");
  add_act(*command, status, choices, "down", "Ends a lab that weir lab up started, and all that runs in it",
          down);
  one = add_act(*command, status, choices, "run", "Runs a command in every machine at once", run);
  one->add_option("command", choices->command, "What to run, after --")->required()->type_name("COMMAND");
  one->add_option("--deadline", choices->deadline, "Ends commands that run longer (no limit if left out)")
      ->type_name("TIME");
  one->footer(
      "Runs in the lab that weir lab up started, or in a new one. These variables describe the machine: its\n"
      "name WEIR_MACHINE, its number WEIR_RANK, the number of machines WEIR_MACHINES, and the addresses of\n"
      "all WEIR_ADDRESSES (commas between machines, + between a machine's NICs). Fails if the command fails\n"
      "in any machine.\n\n"
      "Example:\n"
      "  weir lab run topologies/lab-4.json -- sh -c 'echo I am $WEIR_MACHINE; ip address'");
  one =
      add_act(*command, status, choices, "rate", "Measures what TCP connections move between machines", rate);
  one->add_option("--time", choices->time, "How long each measurement takes (2s)")->type_name("TIME");
  // After the acts, which would inherit it.
  command->footer(
      "Needs the package iproute2, and root or a kernel that lets users make namespaces. Does not touch the\n"
      "network of the host, and leaves nothing behind, however a command ends.\n\n"
      "Examples:\n"
      "  weir lab run topologies/lab-4.json -- sh -c 'echo I am $WEIR_MACHINE; ip address'\n"
      "  weir lab rate topologies/lab-4.json\n"
      "  weir lab up topologies/lab-4.json; weir lab down topologies/lab-4.json");
}

}  // namespace weir
