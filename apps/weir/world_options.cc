#include "apps/weir/world_options.h"

#include <filesystem>
#include <sstream>

#include "apps/weir/world.h"
#include "backends/real/socket.h"

namespace weir {
namespace {

void add_cluster(CLI::App& command, WorldOptions& options) {
  const std::string group = "On a cluster";
  command
      .add_option(
          "--hosts", options.hosts,
          "A file with a host for each machine, one a line: its name, and its address if that is another,\n"
          "or one for each of its NICs")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--key", options.real.key_file,
          "Instead of --hosts: a file to write the job's key to, for nodes that others start, anew for\n"
          "each run of the experiment")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--listen", options.real.listen, "The address of this host at which the machines find it")
      ->type_name("ADDRESS")
      ->group(group);
  command.add_option("--remote-shell", options.remote_shell, "What runs a command on a host")
      ->capture_default_str()
      ->group(group);
  command.add_option("--program", options.real.program, "Where weir is on the hosts (as here)")
      ->type_name("FILE")
      ->group(group);
}

void add_real(CLI::App& command, RealSettings& real) {
  const std::string group = "Real runs";
  command
      .add_option(
          "--transport", real.transport,
          "What messages move through: tcp, as between machines, or shm, memory that processes share,\n"
          "with one copy a message: the faster way where one host is all there is")
      ->check(CLI::IsMember({"tcp", "shm"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--channels", real.channels,
                  "Connections between two machines (2; 1 where they are paced,\n"
                  "and where machines of one host have less than two cores each)")
      ->check(CLI::Range(1, 64))
      ->group(group);
  command
      .add_option("--io-threads", real.io_threads,
                  "Threads of each machine that move bytes (4, or as many as it has cores)")
      ->check(CLI::Range(1, 64))
      ->group(group);
  command.add_option("--workers", real.workers, "Threads of each machine that sum and copy")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group(group);
  command.add_flag("--encrypt", real.encrypt, "Seal what moves over connections between hosts")->group(group);
  command
      .add_flag(
          "--gpus", real.gpus,
          "Use GPUs: gradients lie on them, and compute ops stay there for their time. Machines of one host "
          "take its\n"
          "GPUs in turn; those of a cluster each the first ones of their host. Else host memory and time\n"
          "stand for them")
      ->group(group);
  command.add_flag("--verify", real.verify, "Write gradients, and check every element of their sums")
      ->group(group);
  command
      .add_option(
          "--pace", real.pace,
          "Send to each peer no faster than so many times what the plan needs if all exchanges are to end\n"
          "together on links as fast as the topology says; 0 is as fast as can be (1.02 in a lab, else 0)")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(group);
  command.add_option("--patience", real.patience, "Seconds to wait for each step of a job")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str()
      ->group(group);
}

Result<World> on_cluster(const WorldOptions& options) {
  RealSettings settings = options.real;
  if (settings.listen.empty())
    return failure("--listen: say at which address of this host the machines find it");
  if (const auto reachable = real::check_reachable(settings.listen); !reachable)
    return failure("--listen: " + reachable.error().text);
  if (options.hosts.empty() == settings.key_file.empty()) {
    return failure(
        "say either --hosts, where nodes are to be started, or --key, for nodes that others start");
  }
  if (!options.hosts.empty()) {
    auto hosts = read_hosts(options.hosts);
    if (!hosts) return tl::unexpected(hosts.error());
    settings.hosts = std::move(*hosts);
  }
  std::istringstream words(options.remote_shell);
  for (std::string word; words >> word;) settings.remote_shell.push_back(word);
  std::error_code ignored;
  if (settings.program.empty())
    settings.program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  return cluster_world(settings);
}

}  // namespace

void add_world(CLI::App& command, WorldOptions& options) {
  command
      .add_option(
          "--on", options.on,
          "Where: in simulation, or for real, each machine being a process of this host and every byte\n"
          "moved and summed, one run at a time: over its loopback interface (local), or in a lab, whose\n"
          "links have the topology's rates (lab). Or on the hosts of a cluster (cluster)")
      ->check(CLI::IsMember({"simulation", "local", "lab", "cluster"}))
      ->capture_default_str();
  add_cluster(command, options);
  add_real(command, options.real);
}

Result<World> world_of(const WorldOptions& options) {
  if (options.on == "local") return local_world(options.real);
  if (options.on == "lab") return lab_world(options.real);
  if (options.on == "cluster") return on_cluster(options);
  return simulated_world();
}

}  // namespace weir
