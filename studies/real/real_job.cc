#include "studies/real/real_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/real/job/host.h"
#include "core/base/version.h"
#include "core/experiment/experiment_file.h"

namespace weir {

Result<std::string> job_name() {
  const auto token = real::make_token();
  if (!token) return tl::unexpected(token.error());
  return "weir-" + hexadecimal(*token).substr(0, 16);
}

std::vector<std::string> node_arguments(const std::string& program, MachineId machine,
                                        const std::vector<std::string>& listen, const RealSettings& settings,
                                        const std::vector<int>& gpus) {
  std::vector<std::string> arguments = {program,      "node",
                                        "--machine",  fmt::format("{}", machine),
                                        "--patience", fmt::format("{}", settings.patience)};
  for (const std::string& address : listen) arguments.insert(arguments.end(), {"--listen", address});
  if (!gpus.empty()) arguments.insert(arguments.end(), {"--gpus", fmt::format("{}", fmt::join(gpus, ","))});
  return arguments;
}

Result<real::JobResult> run_job(const Planned& planned, const RealSettings& settings, const std::string& job,
                                const Site& site) {
  auto fresh = real::make_key(job, site.endpoint);
  if (!fresh) return tl::unexpected(fresh.error());
  auto socket = real::ControlSocket::listen(*fresh);
  if (!socket) return tl::unexpected(socket.error());
  fresh->key.endpoint = (*socket)->endpoint();
  const std::string key = text(fresh->key);
  if (site.publish_key) {
    if (auto published = site.publish_key(key); !published) return tl::unexpected(published.error());
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
  for (const Host& host : settings.hosts) how.hosts.push_back(host.name);
  real::Coordinator coordinator(std::move(*socket), how);
  const real::InputsNote inputs = {whole_text(planned.experiment, planned.contender),
                                   planned.contender,
                                   planned.settings.iterations,
                                   settings.channels,
                                   settings.io_threads,
                                   settings.workers,
                                   settings.verify,
                                   settings.transport,
                                   settings.encrypt,
                                   settings.poll,
                                   settings.pace.value_or(0),
                                   settings.gpus};
  auto result = coordinator.run(inputs, planned.plan, planned.cluster);
  if (site.joined) site.joined();
  nodes.wait(Duration::from_seconds(result ? 2 : 0.2));
  return result;
}

}  // namespace weir
