#include "studies/real/real_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/real/compute/host_work.h"
#include "backends/real/job/key.h"
#include "backends/real/job/pacing.h"
#include "backends/real/memory/gpus.h"
#include "backends/real/memory/pages.h"
#include "backends/real/process/threads.h"
#include "backends/real/wire/socket.h"
#include "core/base/units_text.h"
#include "core/run/world_names.h"
#include "studies/output/files.h"
#include "studies/output/shell_word.h"
#include "studies/process/file_guard.h"
#include "studies/real/measured.h"
#include "studies/run/simulated_world.h"

namespace weir {
namespace {

constexpr Bytes kProgram(40 << 20);  // with its threads; measured: 38 MB for an idle node

Result<void> check_left(Bytes needed) {
  if (const Bytes left = real::available_memory(); needed > left) {
    return failure(
        fmt::format("the machines need {} of memory together, and this host has {} left; "
                    "try fewer machines or a smaller model",
                    rounded(needed), rounded(left)));
  }
  return {};
}

// Checks what is known before there is a plan, which takes minutes for a thousand machines: each machine is a
// process, with gradients on each GPU.
Result<void> check_machines(const Cluster& cluster, const Workload& workload, bool gpus,
                            const Notice& notice) {
  constexpr std::size_t kMany = 100;
  const std::size_t machines = cluster.machines().size();
  Bytes needed = kProgram * static_cast<std::int64_t>(machines);
  for (const MachineId id : cluster.gpu_machines()) {
    if (!gpus) needed += workload.size() * static_cast<std::int64_t>(cluster.machine(id).gpus.size());
  }
  if (auto fits = check_left(needed); !fits) return fits;
  if (machines >= kMany)
    notify(notice,
           fmt::format("{} machines need as many processes, and each process makes its own plan", machines));
  return {};
}

// The memory of a machine's process besides its buffers: the program, the plan (each process makes its own)
// and the record. Measured: 420 bytes per op of a plan.
Bytes memory_of_process(const Planned& planned) {
  constexpr Bytes kPlanOfOp(500);
  const auto ops = static_cast<std::int64_t>(planned.plan.ops().size());
  const auto record = Bytes(static_cast<std::int64_t>(sizeof(OpRecord)) * planned.settings.iterations);
  return kProgram + (kPlanOfOp + record) * ops;
}

// All machines' buffers are in the memory of this host.
Result<void> check_memory(const Planned& planned, bool gpus) {
  Bytes needed = memory_of_process(planned) * static_cast<std::int64_t>(planned.cluster.machines().size());
  for (std::size_t i = 0; i < planned.cluster.machines().size(); ++i) {
    const Machine& machine = planned.cluster.machine(MachineId(i));
    needed += planned.plan.host_memory(MachineId(i));
    if (gpus) continue;
    needed += planned.plan.gpu_memory(MachineId(i)) * static_cast<std::int64_t>(machine.gpus.size());
  }
  return check_left(needed);
}

// Checks that no machine sends to itself, and that no plan sends each GPU's share through that GPU's NIC: a
// real message in shares takes one lane.
Result<void> check_ways(const Planned& planned) {
  for (const Op& op : planned.plan.ops()) {
    if (!is_message(op.kind)) continue;
    if (op.peer == op.machine)
      return failure(
          fmt::format("{}: {} would send messages to itself through its NIC, which works only in simulation; "
                      "set 'loopback' to 'memory'",
                      planned.plan.strategy(), planned.cluster.machine(op.machine).name));
    const Slice& slice = main_slice(op);
    if (slice.on.kind != Replicas::Kind::kShards) continue;
    for (const int gpu : planned.plan.group(slice.on.group())) {
      if (planned.cluster.nic_of_gpu(op.machine, gpu) == op.nic) continue;
      return failure(
          fmt::format("{}: each GPU of {} sends its share through the NIC beside it, which real runs do not "
                      "support yet; choose another strategy or another 'local' stage",
                      planned.plan.strategy(), planned.cluster.machine(op.machine).name));
    }
  }
  return {};
}

Result<void> check_plan(const Planned& planned, const RealSettings& settings) {
  if (!planned.plan.all_reduces().empty() && !settings.gpus) {
    return failure(fmt::format(
        "{}: NCCL sums on GPUs, which this run does not use; use them, or choose another 'collective'",
        planned.plan.strategy()));
  }
  for (std::size_t i = 0; settings.gpus && i < planned.plan.machines(); ++i) {
    if (auto from_host = real::check_messages(planned.plan, MachineId(i), settings.transport); !from_host)
      return from_host;
  }
  return check_ways(planned);
}

// Checks what a real run needs of this host and the plan.
Result<void> check(const Planned& planned, const RealSettings& settings) {
  if (auto fits = check_memory(planned, settings.gpus); !fits) return fits;
  return check_plan(planned, settings);
}

// The GPUs of this host that each machine uses, if machines use GPUs. Machines take GPUs in turn, and start
// again with the first when there are no more.
Result<std::vector<std::vector<int>>> gpus_here(const Planned& planned, const RealSettings& settings) {
  std::vector<std::vector<int>> devices(planned.cluster.machines().size());
  if (!settings.gpus || planned.cluster.gpu_machines().empty()) return devices;
  const auto count = real::gpu_count();
  if (!count) return tl::unexpected(count.error());
  int next = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Machine& machine = planned.cluster.machine(MachineId(i));
    const auto own = static_cast<int>(machine.gpus.size());
    if (own > *count)
      return failure(fmt::format("{} has {} GPUs, and this host has {}", machine.name, own, *count));
    for (int gpu = 0; gpu < own; ++gpu) devices[i].push_back(next++ % *count);
  }
  return devices;
}

// `came_to`: transports that messages really used, with the number of machine pairs; empty if unknown.
std::string words(const RealSettings& settings, const std::map<std::string, int>& came_to = {}) {
  const auto count = [](int value) { return value == 0 ? std::string("auto") : std::to_string(value); };
  std::string transport(enum_name(settings.transport));
  for (const auto& [name, pairs] : came_to) transport += fmt::format(" {}_pairs={}", name, pairs);
  std::string all =
      fmt::format("transport={} channels={} io_threads={} workers={} verify={} encrypt={} pace={} gpus={}",
                  transport, count(settings.channels), count(settings.io_threads), settings.workers,
                  enum_name(settings.verify), settings.encrypt, settings.pace.value_or(0), settings.gpus);
  if (real::may_use_devices(settings.transport)) all += " poll=" + text(settings.poll);
  return all;
}

// Reports the most common reasons: machines of a cluster mostly lack the same thing.
void report_why_on_tcp(const std::map<std::string, int>& ends, const Notice& notice) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [why, count] : ends) reasons.emplace_back(-count, why);
  std::sort(reasons.begin(), reasons.end());
  for (std::size_t i = 0; i < std::min(kMost, reasons.size()); ++i)
    notify(notice, fmt::format("messages stay on TCP between some machines: {}", reasons[i].second));
  if (reasons.size() > kMost) notify(notice, fmt::format("and for {} more reasons", reasons.size() - kMost));
}

using Measuring = std::function<Result<std::optional<Measured>>()>;

// The rates were measured before the job. They are measured again: other work on this host may have slowed
// the first measurement more than the run.
Result<RunOutput> output_of(Result<real::JobResult> job, const Planned& planned, const RealSettings& settings,
                            std::optional<Measured> measured, const Measuring& measure) {
  if (!job) return tl::unexpected(job.error());
  report_why_on_tcp(job->on_tcp, settings.notice);
  RunOutput all{.record = std::move(job->record), .settings = words(settings, job->transports)};
  if (settings.verify != real::Verify::kNone) all.checked = job->checked;
  if (!measured) return all;
  all.link_rate = measured->link;
  const double pace = settings.pace.value_or(0);
  all.paced = pace > 0 ? paced(measured->topology, planned, pace) : measured->topology;
  if (const auto after = measure(); after && *after) {
    all.fastest = faster(measured->topology, (*after)->topology);
    all.rate_difference = difference(*measured, **after);
  } else if (!after) {
    notify(settings.notice,
           fmt::format("rates could not be measured after the run: {}; its bounds are those of the "
                       "rates from before",
                       after.error().text));
  }
  all.measured = std::move(measured->topology);
  return all;
}

// The settings; where they do not say, with as many threads and connections as suit this host, which all
// machines share.
RealSettings with_streams(RealSettings settings, const Planned& planned) {
  if (settings.io_threads == 0) settings.io_threads = real::io_threads_for(planned.plan.machines());
  if (settings.channels == 0) {
    settings.channels =
        real::channels_for(planned.plan, planned.cluster, settings.io_threads, settings.pace.value_or(0));
  }
  return settings;
}

Result<RunOutput> run_on_local(const Planned& planned, const RealSettings& asked) {
  const RealSettings settings = with_streams(asked, planned);
  if (const auto can = check(planned, settings); !can) return tl::unexpected(can.error());
  const auto gpus = gpus_here(planned, settings);
  if (!gpus) return tl::unexpected(gpus.error());
  Result<std::optional<Measured>> measured = std::optional<Measured>();
  // Machines that share memory have no connections, so there is no link rate to measure.
  const Measuring measure = [&] { return measure_host(planned, settings.workers); };
  if (settings.transport == real::TransportChoice::kTcp) measured = measure();
  if (!measured) return tl::unexpected(measured.error());
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  Site site;
  const std::string here = real::loopback();
  site.endpoint = "ipc://@" + *job;  // no file, so nothing remains however this process ends
  site.command = [&](MachineId machine, const std::string& key) {
    return NodeCommand{node_arguments("/proc/self/exe", machine, {here}, settings, (*gpus)[machine.index()]),
                       {"WEIR_JOB=" + key},
                       ""};
  };
  auto all =
      output_of(run_job(planned, settings, *job, site), planned, settings, std::move(*measured), measure);
  if (all) all->over_links = !shares_memory(settings.transport);
  return all;
}

Result<RunOutput> run_in_lab(const Planned& planned, const RealSettings& asked) {
  const RealSettings settings = with_streams(asked, planned);
  if (const auto can = check(planned, settings); !can) return tl::unexpected(can.error());
  const auto gpus = gpus_here(planned, settings);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto lab = real::Lab::kept(planned.cluster.name()) ? real::Lab::join(planned.cluster)
                                                           : real::Lab::up(planned.cluster);
  if (!lab) return tl::unexpected(lab.error());
  const Measuring measure = [&] { return measure_lab(**lab, planned, settings.workers); };
  auto measured = measure();
  if (!measured) return tl::unexpected(measured.error());
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  // A socket without a file is known only within one network namespace. This one has a file until all
  // machines have joined.
  const std::string file = (std::filesystem::temp_directory_path() / *job).string();
  auto guard = FileGuard::make({file});
  if (!guard) return tl::unexpected(guard.error());
  Site site;
  site.endpoint = "ipc://" + file;
  site.lab = lab->get();
  site.joined = [&guard] { guard->reset(); };
  site.command = [&](MachineId machine, const std::string& key) {
    std::vector<std::string> addresses;
    for (std::size_t nic = 0; nic < planned.cluster.machine(machine).nics.size(); ++nic)
      addresses.push_back(real::Lab::address(machine, static_cast<int>(nic)));
    return NodeCommand{
        node_arguments("/proc/self/exe", machine, addresses, settings, (*gpus)[machine.index()]),
        {"WEIR_JOB=" + key, "NCCL_IB_DISABLE=1"},  // RDMA devices are in no network of the lab
        ""};
  };
  return output_of(run_job(planned, settings, *job, site), planned, settings, std::move(*measured), measure);
}

World real_world(const std::string& name, const RealSettings& settings,
                 Result<RunOutput> (*run)(const Planned& planned, const RealSettings& settings)) {
  World world;
  world.name = name;
  world.settings = words(settings);
  world.run = [settings, run](const Planned& planned) { return run(planned, settings); };
  if (auto simulated = simulated_world()) world.predictor = std::make_shared<World>(std::move(*simulated));
  world.simulated = false;
  return world;
}

// A key file left by a job may be replaced; anything else, such as a device, must not be touched.
Result<void> check_key_file(const std::string& file) {
  std::error_code ignored;
  const auto kind = std::filesystem::symlink_status(file, ignored).type();
  if (kind == std::filesystem::file_type::not_found) return {};
  if (kind == std::filesystem::file_type::regular) {
    const auto text = read_text(file);
    if (text && real::parse_key(*text, file)) return {};
  }
  return failure(
      fmt::format("{}: this file exists and holds no job's key; name another file for the key", file));
}

Result<RunOutput> run_on_cluster(const Planned& planned, const RealSettings& asked) {
  RealSettings settings = asked;
  if (settings.channels == 0) {  // the same for all ends; threads are each host's own choice
    settings.channels =
        real::channels_for(planned.plan, planned.cluster, real::kMostIoThreads, settings.pace.value_or(0));
  }
  if (const auto can = check_plan(planned, settings); !can) return tl::unexpected(can.error());
  const std::size_t machines = planned.cluster.machines().size();
  if (settings.key_file.empty() && settings.hosts.size() != machines) {
    return failure(
        fmt::format("the topology has {} machines, but there are {} hosts", machines, settings.hosts.size()));
  }
  const auto job = job_name();
  if (!job) return tl::unexpected(job.error());
  std::unique_ptr<FileGuard> guard;  // for the key's file
  Site site;
  const auto listen = real::numeric({settings.listen, 0});  // ZeroMQ takes names for those of interfaces
  if (!listen) return failure("--listen: " + listen.error().text);
  const bool six = listen->host.find(':') != std::string::npos;
  site.endpoint = fmt::format("tcp://{}{}{}:*", six ? "[" : "", listen->host, six ? "]" : "");
  if (!settings.key_file.empty()) {
    site.publish_key = [&](const std::string& key) -> Result<void> {
      if (auto free = check_key_file(settings.key_file); !free) return free;
      auto made = FileGuard::make({settings.key_file, unfinished(settings.key_file)});
      if (!made) return tl::unexpected(made.error());
      guard = std::move(*made);
      return write_secret(settings.key_file, key);
    };
    site.joined = [&guard] { guard.reset(); };
  } else {
    site.command = [&](MachineId machine, const std::string& key) {
      const Host& host = settings.hosts[machine.index()];
      std::vector<std::string> arguments = settings.remote_shell;
      arguments.push_back(host.name);
      std::string words;
      for (const std::string& word : node_arguments(settings.program, machine, host.addresses, settings))
        words += shell_word(word) + ' ';
      arguments.push_back(words + "--job -");
      return NodeCommand{arguments, {}, key};
    };
  }
  return output_of(run_job(planned, settings, *job, site), planned, settings, std::nullopt, nullptr);
}

}  // namespace

World local_world(const RealSettings& settings) {
  World world = real_world(std::string(kLocalWorld), settings, run_on_local);
  world.check = [gpus = settings.gpus, notice = settings.notice](const Cluster& cluster,
                                                                 const Workload& workload) {
    return check_machines(cluster, workload, gpus, notice);
  };
  return world;
}

World lab_world(const RealSettings& settings) {
  constexpr double kPace = 1.02;  // slightly above 1, so that late messages can catch up
  RealSettings paced = settings;
  if (!paced.pace) paced.pace = kPace;
  World world = real_world(std::string(kLabWorld), paced, run_in_lab);
  world.check = [gpus = settings.gpus, notice = settings.notice](const Cluster& cluster,
                                                                 const Workload& workload) {
    if (auto fits = real::Lab::check(cluster); !fits) return fits;
    return check_machines(cluster, workload, gpus, notice);
  };
  return world;
}

World cluster_world(const RealSettings& settings) {
  return real_world(std::string(kClusterWorld), settings, run_on_cluster);
}

}  // namespace weir
