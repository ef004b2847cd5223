#include "apps/weir/real_world.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "apps/weir/nodes.h"
#include "apps/weir/version.h"
#include "apps/weir/world.h"
#include "backends/real/job/coordinator.h"
#include "backends/real/job/host.h"
#include "backends/real/lab/raw_rate.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

// A name that no other job has.
Result<std::string> job_name() {
  const auto token = real::make_token();
  if (!token) return tl::unexpected(token.error());
  return "weir-" + real::hexadecimal(*token).substr(0, 16);
}

Result<Record> run_job(const Planned& planned, const RealSettings& settings, real::Lab* lab) {
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  // Without a file a socket leaves nothing however this process ends, but is known in one network only. That
  // of a lab has one until all machines have joined.
  const std::string file = lab != nullptr ? (std::filesystem::temp_directory_path() / *job).string() : "";
  const auto fresh = real::make_key(*job, "ipc://" + (file.empty() ? "@" + *job : file));
  if (!fresh) return tl::unexpected(fresh.error());
  Nodes nodes(planned.cluster, lab);
  for (std::size_t i = 0; i < planned.cluster.machines().size(); ++i) {
    const auto started = nodes.start(MachineId(i), text(fresh->key), settings.patience);
    if (!started) return tl::unexpected(started.error());
  }
  auto socket = real::ControlSocket::listen(*fresh);
  if (!socket) return tl::unexpected(socket.error());
  real::CoordinatorSettings how;
  how.version = version();
  how.patience = Duration::from_seconds(settings.patience);
  how.watch = [&nodes] { return nodes.watch(); };
  how.joined = [&file] {
    if (!file.empty()) ::unlink(file.c_str());
  };
  real::Coordinator coordinator(std::move(*socket), how);
  const real::InputsNote inputs = {whole_text(planned.experiment, planned.contender),
                                   planned.contender,
                                   planned.settings.iterations,
                                   settings.channels,
                                   settings.io_threads,
                                   settings.workers,
                                   settings.verify,
                                   settings.transport == "shm"};
  auto result = coordinator.run(inputs, planned.plan, planned.cluster);
  how.joined();
  nodes.wait(Duration::from_seconds(result ? 2 : 0.2));
  if (!result) return tl::unexpected(result.error());
  return std::move(result->record);
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
  const auto lab = real::Lab::kept(planned.cluster.name()) ? real::Lab::join(planned.cluster)
                                                           : real::Lab::up(planned.cluster);
  if (!lab) return tl::unexpected(lab.error());
  const auto measured = measure(**lab, planned.cluster);
  if (!measured) return tl::unexpected(measured.error());
  auto record = run_job(planned, settings, lab->get());
  if (!record) return tl::unexpected(record.error());
  Lived lived{std::move(*record), {}, {}};
  if (*measured) {
    lived.link_rate = (*measured)->rate;
    lived.measured = as_measured(planned.experiment.topology, (*measured)->factor);
  }
  return lived;
}

World real_world(const std::string& name, const RealSettings& settings,
                 Result<Lived> (*run)(const Planned& planned, const RealSettings& settings)) {
  World world;
  world.name = name;
  world.settings =
      fmt::format("transport={} channels={} io_threads={} workers={} verify={}", settings.transport,
                  settings.channels, settings.io_threads, settings.workers, settings.verify);
  world.run = [settings, run](const Planned& planned) { return run(planned, settings); };
  world.predict = prediction();
  world.simulated = false;
  return world;
}

}  // namespace

World local_world(const RealSettings& settings) {
  return real_world("processes on one host", settings,
                    [](const Planned& planned, const RealSettings& how) -> Result<Lived> {
                      auto record = run_job(planned, how, nullptr);
                      if (!record) return tl::unexpected(record.error());
                      return Lived{std::move(*record), {}, {}};
                    });
}

World lab_world(const RealSettings& settings) {
  return real_world("a lab on one host", settings, run_in_lab);
}

}  // namespace weir
