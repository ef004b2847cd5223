#include "apps/weir/real_world.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/weir/nodes.h"
#include "apps/weir/version.h"
#include "apps/weir/world.h"
#include "backends/real/job/coordinator.h"
#include "backends/real/job/host.h"
#include "backends/real/lab/raw_rate.h"
#include "backends/real/pages.h"
#include "core/base/units_text.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

// A name that no other job has.
Result<std::string> job_name() {
  const auto token = real::make_token();
  if (!token) return tl::unexpected(token.error());
  return "weir-" + real::hexadecimal(*token).substr(0, 16);
}

// For a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// A file that nobody but its owner can read.
Result<void> write_secret(const std::string& file, const std::string& text) {
  ::unlink(file.c_str());
  const real::Descriptor written(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!written.valid() ||
      ::write(written.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return failure(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  }
  return {};
}

// Where a job's machines are, and how they come to it.
struct Site {
  std::string endpoint;  // of the coordinator, * being a free port
  real::Lab* lab = nullptr;
  /// How a machine's process is started; none if others start it.
  std::function<NodeCommand(MachineId machine, const std::string& key)> command;
  /// Called with the key, before anything is started.
  std::function<Result<void>(const std::string& key)> tell;
  std::function<void()> joined;
};

std::vector<std::string> node_arguments(const std::string& program, MachineId machine,
                                        const std::string& listen, const RealSettings& settings) {
  return {program,    "node", "--machine",  fmt::format("{}", machine),
          "--listen", listen, "--patience", fmt::format("{}", settings.patience)};
}

Result<Record> run_job(const Planned& planned, const RealSettings& settings, const std::string& job,
                       const Site& site) {
  auto fresh = real::make_key(job, site.endpoint);
  if (!fresh) return tl::unexpected(fresh.error());
  auto socket = real::ControlSocket::listen(*fresh);
  if (!socket) return tl::unexpected(socket.error());
  fresh->key.endpoint = (*socket)->endpoint();
  const std::string key = text(fresh->key);
  if (site.tell) {
    if (auto told = site.tell(key); !told) return tl::unexpected(told.error());
  }
  Nodes nodes(planned.cluster, site.lab);
  for (std::size_t i = 0; i < planned.cluster.machines().size() && site.command; ++i) {
    const auto started = nodes.start(MachineId(i), site.command(MachineId(i), key));
    if (!started) return tl::unexpected(started.error());
  }
  real::CoordinatorSettings how;
  how.version = version();
  how.patience = Duration::from_seconds(settings.patience);
  how.watch = [&nodes] { return nodes.watch(); };
  how.joined = site.joined;
  real::Coordinator coordinator(std::move(*socket), how);
  const real::InputsNote inputs = {whole_text(planned.experiment, planned.contender),
                                   planned.contender,
                                   planned.settings.iterations,
                                   settings.channels,
                                   settings.io_threads,
                                   settings.workers,
                                   settings.verify,
                                   settings.transport == "shm",
                                   settings.pace.value_or(0)};
  auto result = coordinator.run(inputs, planned.plan, planned.cluster);
  if (site.joined) site.joined();
  nodes.wait(Duration::from_seconds(result ? 2 : 0.2));
  if (!result) return tl::unexpected(result.error());
  return std::move(result->record);
}

// All machines have their buffers in the memory of this host.
Result<void> check_memory(const Planned& planned) {
  Bytes needed;
  for (std::size_t i = 0; i < planned.cluster.machines().size(); ++i) {
    const Machine& machine = planned.cluster.machine(MachineId(i));
    needed += planned.plan.host_memory(MachineId(i)) +
              planned.plan.gpu_memory(MachineId(i)) * static_cast<std::int64_t>(machine.gpus.size());
  }
  if (const Bytes left = real::available_memory(); needed > left) {
    return failure(
        fmt::format("the machines of this plan need {} of memory together, and this host has {} left; "
                    "try fewer machines or a smaller model",
                    rounded(needed), rounded(left)));
  }
  return {};
}

Result<Lived> lived(Result<Record> record) {
  if (!record) return tl::unexpected(record.error());
  return Lived{std::move(*record), {}, {}};
}

Result<Lived> run_on_local(const Planned& planned, const RealSettings& settings) {
  if (const auto fits = check_memory(planned); !fits) return tl::unexpected(fits.error());
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  Site site;
  site.endpoint = "ipc://@" + *job;  // no file, so nothing is left however this process ends
  site.command = [&](MachineId machine, const std::string& key) {
    return NodeCommand{node_arguments("/proc/self/exe", machine, "127.0.0.1", settings), "WEIR_JOB=" + key,
                       ""};
  };
  return lived(run_job(planned, settings, *job, site));
}

struct Measured {
  BytesPerSecond rate;  // the least of all NICs
  double factor = 1.0;  // of what the topology says, on average
};

// Every machine sends to the next, all at once.
Result<std::optional<Measured>> measure(real::Lab& lab, const Cluster& cluster) {
  const std::size_t machines = cluster.machines().size();
  std::vector<real::Stream> streams;
  std::vector<double> nominal;
  for (std::size_t i = 0; i < machines && machines > 1; ++i) {
    const MachineId from(i);
    const MachineId into((i + 1) % machines);
    const Machine& source = cluster.machine(from);
    const Machine& target = cluster.machine(into);
    const auto rate =
        std::min(cluster.link(source.nics.front().out).rate, cluster.link(target.nics.front().in).rate);
    if (!rate.limited()) return std::optional<Measured>();
    streams.push_back({from, into, 0, 0});
    nominal.push_back(static_cast<double>(rate.value()));
  }
  if (streams.empty()) return std::optional<Measured>();
  real::RateSettings how;
  how.time = Duration::from_seconds(1);
  const auto rates = real::raw_rates(lab, streams, how);
  if (!rates) return tl::unexpected(rates.error());
  Measured measured{*std::min_element(rates->begin(), rates->end()), 0.0};
  for (std::size_t i = 0; i < rates->size(); ++i) {
    measured.factor +=
        static_cast<double>((*rates)[i].value()) / nominal[i] / static_cast<double>(rates->size());
  }
  return std::optional(measured);
}

BytesPerSecond scaled(BytesPerSecond rate, double factor) {
  return rate.limited() ? BytesPerSecond(std::llround(static_cast<double>(rate.value()) * factor)) : rate;
}

// With NICs as fast as they were measured.
Topology as_measured(Topology topology, double factor) {
  for (GroupSpec& group : topology.groups) {
    for (NicSpec& nic : group.nics) {
      nic.rate.in = scaled(nic.rate.in, factor);
      nic.rate.out = scaled(nic.rate.out, factor);
    }
  }
  return topology;
}

Result<Lived> run_in_lab(const Planned& planned, const RealSettings& settings) {
  if (const auto fits = check_memory(planned); !fits) return tl::unexpected(fits.error());
  const auto lab = real::Lab::kept(planned.cluster.name()) ? real::Lab::join(planned.cluster)
                                                           : real::Lab::up(planned.cluster);
  if (!lab) return tl::unexpected(lab.error());
  const auto measured = measure(**lab, planned.cluster);
  if (!measured) return tl::unexpected(measured.error());
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  // A socket without a file is known in one network only. This one has a file until all machines have joined.
  const std::string file = (std::filesystem::temp_directory_path() / *job).string();
  Site site;
  site.endpoint = "ipc://" + file;
  site.lab = lab->get();
  site.joined = [&file] { ::unlink(file.c_str()); };
  site.command = [&](MachineId machine, const std::string& key) {
    const std::string address = real::Lab::address(machine, 0);
    return NodeCommand{node_arguments("/proc/self/exe", machine, address, settings), "WEIR_JOB=" + key, ""};
  };
  auto result = lived(run_job(planned, settings, *job, site));
  if (result && *measured) {
    result->link_rate = (*measured)->rate;
    result->measured = as_measured(planned.experiment.topology, (*measured)->factor);
  }
  return result;
}

World real_world(const std::string& name, const RealSettings& settings,
                 Result<Lived> (*run)(const Planned& planned, const RealSettings& settings)) {
  World world;
  world.name = name;
  world.settings = fmt::format("transport={} channels={} io_threads={} workers={} verify={} pace={}",
                               settings.transport, settings.channels, settings.io_threads, settings.workers,
                               settings.verify, settings.pace.value_or(0));
  world.run = [settings, run](const Planned& planned) { return run(planned, settings); };
  world.predict = prediction();
  world.simulated = false;
  return world;
}

Result<Lived> run_on_cluster(const Planned& planned, const RealSettings& settings) {
  const std::size_t machines = planned.cluster.machines().size();
  if (settings.key_file.empty() && settings.hosts.size() != machines) {
    return failure(
        fmt::format("the topology has {} machines, and --hosts names {}", machines, settings.hosts.size()));
  }
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  Site site;
  const bool six = settings.listen.find(':') != std::string::npos;
  site.endpoint = fmt::format("tcp://{}{}{}:*", six ? "[" : "", settings.listen, six ? "]" : "");
  if (!settings.key_file.empty()) {
    site.tell = [&](const std::string& key) { return write_secret(settings.key_file, key); };
    site.joined = [&] { ::unlink(settings.key_file.c_str()); };
  } else {
    site.command = [&](MachineId machine, const std::string& key) {
      const Host& host = settings.hosts[machine.index()];
      std::vector<std::string> arguments = settings.remote_shell;
      arguments.push_back(host.name);
      std::string words;
      for (const std::string& word : node_arguments(settings.program, machine, host.address, settings))
        words += quoted(word) + ' ';
      arguments.push_back(words + "--job -");
      return NodeCommand{arguments, "", key};
    };
  }
  return lived(run_job(planned, settings, *job, site));
}

}  // namespace

World local_world(const RealSettings& settings) {
  return real_world("processes on one host", settings, run_on_local);
}

World lab_world(const RealSettings& settings) {
  constexpr double kPace = 1.02;  // a little more than needed, so that what was late catches up
  RealSettings paced = settings;
  if (!paced.pace) paced.pace = kPace;
  return real_world("a lab on one host", paced, run_in_lab);
}

World cluster_world(const RealSettings& settings) {
  return real_world("a cluster", settings, run_on_cluster);
}

Result<std::vector<Host>> read_hosts(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return failure(file + ": there is no such file, or it cannot be read");
  std::vector<Host> hosts;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Host host;
    std::string more;
    if (!(words >> host.name)) continue;
    if (!(words >> host.address)) host.address = host.name;
    if (words >> more) {
      return failure(fmt::format("{}:{}: expected a host and perhaps its address, and '{}' follows", file,
                                 number, more));
    }
    if (host.name.starts_with('-'))
      return failure(fmt::format("{}:{}: '{}' is no host", file, number, host.name));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace weir
