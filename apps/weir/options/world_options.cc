#include "apps/weir/options/world_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "apps/weir/options/choice.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "backends/real/process/program.h"
#include "backends/real/transport/wires.h"
#include "backends/real/wire/socket.h"
#include "core/base/units_text.h"
#include "studies/output/shell_word.h"
#include "studies/run/simulated_world.h"

namespace weir {
namespace {

constexpr double kCoarsest = 0.1;  // largest --precision

std::vector<const CLI::Option*> added_since(const CLI::App& command, std::size_t before) {
  const std::vector<const CLI::Option*> all = command.get_options();
  return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
}

void add_cluster(CLI::App& command, WorldOptions& options) {
  const std::string group = "On a cluster";
  const auto before = command.get_options().size();
  command
      .add_option(
          "--hosts", options.hosts,
          "A file with one line for each machine: NAME [ADDRESS...], the name of its host and, if it\n"
          "differs, the host's address, or one address for each NIC")
      ->check(not_empty("a file"))
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--key", options.real.key_file,
          "Instead of --hosts: a file to write the job's key to, for nodes that others start. Each run of\n"
          "the experiment writes a new key")
      ->check(not_empty("a file"))
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--listen", options.real.listen, "The address of this host at which the machines find it")
      ->check(not_empty("an address"))
      ->type_name("ADDRESS")
      ->group(group);
  command.add_option("--remote-shell", options.remote_shell, "The program that runs a command on a host")
      ->check(not_empty("a program"))
      ->capture_default_str()
      ->group(group);
  command.add_option("--program", options.real.program, "The path of weir on the hosts (the same as here)")
      ->check(not_empty("a file"))
      ->type_name("FILE")
      ->group(group);
  options.of_clusters = added_since(command, before);
}

void add_real(CLI::App& command, WorldOptions& options) {
  RealSettings& real = options.real;
  const std::string group = "Real runs";
  add_transport(
      command, real.transport,
      "What moves messages. tcp: TCP connections. shm: shared memory, within one host. rdma: network\n"
      "cards that write into other machines' memory. auto: shm or rdma where possible, else tcp")
      ->group(group);
  options.poll = add_poll(command, real.poll)->group(group);
  command
      .add_option("--channels", real.channels,
                  "Connections between two machines (1 to 4, more with fewer peers; 1 if the kernel paces\n"
                  "them or with one I/O thread)")
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
  command.add_flag("--encrypt", real.encrypt, "Encrypt connections between hosts")->group(group);
  command
      .add_flag(
          "--gpus", real.gpus,
          "Use GPUs: they hold gradients, and each layer occupies them as long as the trace says. Machines\n"
          "on one host take its GPUs in turn; each machine of a cluster takes the first GPUs of its host.\n"
          "Without --gpus, host memory replaces GPU memory, and waiting replaces computation")
      ->group(group);
  real.verify = real::Verify::kFirst;
  auto* const all = command
                        .add_flag_callback(
                            "--verify", [&real] { real.verify = real::Verify::kAll; },
                            "Write gradients and check every element of their sums in all iterations, which\n"
                            "makes them longer. By default, one extra iteration is checked before the others")
                        ->group(group);
  command
      .add_flag_callback(
          "--no-verify", [&real] { real.verify = real::Verify::kNone; }, "Check no sums")
      ->excludes(all)
      ->group(group);
  command
      .add_option(
          "--pace", real.pace,
          "Limit the rate to each peer. 1 lets all exchanges end together at the topology's rates; 2 allows\n"
          "twice that; 0 is no limit (1.02 in a lab, else 0)")
      ->check(number_within(0.0, 1000.0))
      ->group(group);
  command.add_option("--patience", real.patience, "Seconds to wait for each step of a job")
      ->check(number_within(0.1, 86400.0))
      ->capture_default_str()
      ->group(group);
}

Result<World> on_cluster(const WorldOptions& options) {
  RealSettings settings = options.real;
  if (settings.listen.empty())
    return failure("--listen: give the address at which the machines find this host");
  if (const auto reachable = real::check_reachable(settings.listen); !reachable)
    return failure("--listen: " + reachable.error().text);
  if (options.hosts.empty() == settings.key_file.empty()) {
    return failure("give either --hosts, to start nodes there, or --key, for nodes that others start");
  }
  if (!options.hosts.empty()) {
    auto hosts = read_hosts(options.hosts);
    if (!hosts) return tl::unexpected(hosts.error());
    settings.hosts = std::move(*hosts);
  }
  std::istringstream words(options.remote_shell);
  for (std::string word; words >> word;) settings.remote_shell.push_back(word);
  if (settings.program.empty()) settings.program = real::program_path().string();
  return cluster_world(settings);
}

// An option without effect is an error: whoever gives it believes that it has one.
Result<void> check(const WorldOptions& options) {
  const auto given = [](const std::vector<const CLI::Option*>& among) -> const CLI::Option* {
    const auto found =
        std::find_if(among.begin(), among.end(), [](const CLI::Option* one) { return one->count() > 0; });
    return found == among.end() ? nullptr : *found;
  };
  if (const auto* option = given(options.of_clusters); option != nullptr && options.on != "cluster")
    return failure(fmt::format("{}: has no meaning with --on {}; it is for --on cluster", option->get_name(),
                               options.on));
  if (const auto* option = given(options.of_simulation); option != nullptr && options.on != "simulation")
    return failure(
        fmt::format("{}: has no meaning with --on {}; it is for simulation", option->get_name(), options.on));
  if (const auto* option = given(options.of_real_runs); option != nullptr && options.on == "simulation")
    return failure(fmt::format("{}: has no meaning in simulation; it is for --on local, lab or cluster",
                               option->get_name()));
  const real::TransportChoice transport = options.real.transport;
  const real::Wire* const wire = real::only_wire(transport);
  const bool devices = wire != nullptr && wire->traits.uses_devices;
  if (wire != nullptr && wire->traits.within_host && options.on == "lab")
    return failure("--transport: machines of a lab share no memory; take tcp, or --on local");
  if (devices && options.on != "cluster" && options.on != "simulation")
    return failure(
        fmt::format("--transport: machines of --on {} have no RDMA devices; use --on cluster", options.on));
  if (devices && options.real.pace)
    return failure(
        "--pace: it slows down TCP connections only; RDMA devices send as fast as the network allows");
  if (devices && options.real.encrypt)
    return failure("--encrypt: RDMA devices do not encrypt; take --transport tcp or auto");
  if (options.poll->count() > 0 && !real::may_use_devices(transport))
    return failure("--poll: it is for RDMA; take --transport rdma or auto");
  if (shares_memory(transport) && options.real.encrypt && options.on == "local")
    return failure("--encrypt: machines that share memory have no connections; take --transport tcp");
  return {};
}

}  // namespace

CLI::Option* add_transport(CLI::App& command, real::TransportChoice& into, const std::string& about,
                           const std::string& name, const std::vector<real::TransportChoice>& among) {
  return add_choice(command, name, into, about, among);
}

void add_engine(CLI::App& command, SimulationOptions& into) {
  add_choice(command, "--engine", into.engine,
             "The engine that simulates links: SimGrid, the reference, or Weir's own, which is faster with\n"
             "many flows");
  command
      .add_option(
          "--precision", into.precision,
          "The largest relative error of link rates (fluid engine). With 0.0001, runs of hundreds of\n"
          "machines are several times as fast, and mean times stay the same")
      ->check(number_within(0.0, kCoarsest))
      ->type_name("PART")
      ->capture_default_str();
}

CLI::Option* add_poll(CLI::App& command, Duration& into) {
  const auto take = [&into](const std::string& words) {
    const auto duration = parse_duration(words);
    if (!duration) throw CLI::ValidationError("--poll", duration.error().text);
    into = *duration;
  };
  return command
      .add_option_function<std::string>(
          "--poll", take,
          "Over RDMA: how long threads poll for completed messages before they sleep until the device\n"
          "wakes them; with 0s they sleep at once")
      ->type_name("DURATION")
      ->default_str(text(into));
}

void add_world(CLI::App& command, WorldOptions& options, bool choose) {
  if (choose) {
    command
        .add_option("--on", options.on,
                    "Where to run. local: each machine is a process of this host, over loopback. lab:\n"
                    "likewise, over links with the topology's rates. cluster: on the hosts of a cluster.\n"
                    "These three move and sum every byte, and make one run at a time")
        ->check(CLI::IsMember({"simulation", "local", "lab", "cluster"}))
        ->capture_default_str();
    const auto before = command.get_options().size();
    add_engine(command, options.simulation);
    options.of_simulation = added_since(command, before);
  }
  add_cluster(command, options);
  const auto before = command.get_options().size();
  add_real(command, options);
  options.of_real_runs = added_since(command, before);
}

std::map<std::string, std::string> given_streams(const WorldOptions& options) {
  std::map<std::string, std::string> given;
  for (const auto& [name, option] : std::map<std::string, std::string>{
           {"channels", "--channels"}, {"io_threads", "--io-threads"}, {"workers", "--workers"}}) {
    for (const CLI::Option* one : options.of_real_runs) {
      if (one->get_name() == option && one->count() > 0) given[name] = option;
    }
  }
  return given;
}

void take(const Streams& streams, WorldOptions& options) {
  const auto take_one = [&](const char* name, const std::optional<int>& from, int& into) {
    const auto given = [&](const CLI::Option* option) {
      return option->get_name() == name && option->count() > 0;
    };
    if (from && std::none_of(options.of_real_runs.begin(), options.of_real_runs.end(), given)) into = *from;
  };
  take_one("--channels", streams.channels, options.real.channels);
  take_one("--io-threads", streams.io_threads, options.real.io_threads);
  take_one("--workers", streams.workers, options.real.workers);
}

std::string words(const WorldOptions& options) {
  if (options.on == "simulation") return words(options.simulation);
  std::string words = " --on " + options.on;
  for (const auto* among : {&options.of_clusters, &options.of_real_runs}) {
    for (const CLI::Option* option : *among) {
      if (option->count() == 0) continue;
      words += ' ' + option->get_name();
      if (option->get_items_expected_max() == 0) continue;  // a flag
      for (const std::string& value : option->results()) words += ' ' + shell_word(value);
    }
  }
  return words;
}

Result<World> world_of(const WorldOptions& options) {
  if (const auto meant = check(options); !meant) return tl::unexpected(meant.error());
  if (options.on == "simulation") {
    constexpr SettingOption kPrecision[] = {{"precision", "--precision"}};
    auto world = simulated_world(options.simulation);
    if (!world) return tl::unexpected(with_options(world.error(), kPrecision));
    return world;
  }
  WorldOptions real = options;
  real.real.notice = [](const std::string& line) { print_error("weir: {}\n", line); };
  if (options.on == "local") return local_world(real.real);
  if (options.on == "lab") return lab_world(real.real);
  return on_cluster(real);
}

}  // namespace weir
