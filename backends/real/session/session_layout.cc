#include "backends/real/session/session_layout.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_file.h"
#include "core/experiment/settings_file.h"
#include "core/plan/hash.h"
#include "core/plan/proof.h"
#include "core/strategies/blocks/nics.h"

namespace weir::real {
namespace {

// Parts and windows of a session. The cost of each message matters more here than the time until the first
// parts fill the NICs. So a part is what a NIC sends in kPartTime, and a window is a few parts. With larger
// windows, urgent tensors would wait longer for those sent before them.
constexpr Duration kPartTime(4'000'000);
constexpr Duration kWindowTime(16'000'000);
constexpr Bytes kLeastPart(64 << 10);
constexpr Bytes kMostPart(1 << 20);
constexpr std::int64_t kFewestParts = 4;  // in a window
constexpr std::int64_t kMostParts = 16;
constexpr const char* kOrigin = "the session's settings";

// Machines with equal NICs behind one switch. Each machine's share of the sums then depends only on their
// number.
Topology equal_machines(int ranks, int servers, BytesPerSecond rate) {
  Topology topology;
  topology.name = "session";
  const auto add = [&](const char* name, int count) -> GroupSpec& {
    GroupSpec& group = topology.groups.emplace_back();
    group.name = name;
    group.count = count;
    group.nics.push_back({1, "numa0", {rate, rate}, {}, {}});
    return group;
  };
  GpuSpec gpu;
  gpu.at = "numa0";
  add("rank", ranks).gpus.push_back(gpu);
  if (servers > 0) add("server", servers);
  return topology;
}

void cut_parts(const Cluster& cluster, Options& options) {
  constexpr Bytes kMany(1'000'000'000);
  const double seconds = time_at_nics(cluster, kMany).seconds();  // 0 if NICs are unlimited
  const auto sent_in = [&](Duration time) {
    if (seconds == 0) return kMostPart * kMostParts;
    return Bytes(static_cast<std::int64_t>(static_cast<double>(kMany.count()) * time.seconds() / seconds));
  };
  const Bytes part = std::clamp(sent_in(kPartTime), kLeastPart, kMostPart);
  options.partition_size = options.finest_part = part;
  options.credit = static_cast<int>(std::clamp(sent_in(kWindowTime) / part, kFewestParts, kMostParts));
}

// A placeholder trace. It completes an experiment, so that topology and options are checked like those of
// files.
Trace stand_in() { return {"session", "", 1, "sample", {{"tensor", {}, {}, {{"tensor", 1, Dtype::kF32}}}}}; }

Result<Topology> topology_of(const LayoutSettings& settings) {
  if (settings.topology.empty()) return equal_machines(settings.ranks, settings.servers, settings.nic_rate);
  auto topology = read_topology(settings.topology);
  if (!topology) return topology;
  const Cluster cluster(*topology);
  const std::size_t machines = cluster.machines().size();
  const std::size_t ranks = cluster.gpu_machines().size();
  if (ranks != static_cast<std::size_t>(settings.ranks) ||
      machines - ranks != static_cast<std::size_t>(settings.servers)) {
    return failure(
        fmt::format("{}: it has {} GPU machines and {} CPU machines, but the session has {} ranks and {} "
                    "servers; each rank needs a GPU machine, and each server a CPU machine",
                    settings.topology, ranks, machines - ranks, settings.ranks, settings.servers));
  }
  for (const MachineId machine : cluster.gpu_machines()) {
    const Machine& spec = cluster.machine(machine);
    if (spec.gpus.size() == 1) continue;
    return failure(fmt::format("{}: {} has {} GPUs; a rank's machine has one", settings.topology, spec.name,
                               spec.gpus.size()));
  }
  return topology;
}

// The topology of these ranks' machines and all servers. It has no racks, because ranks may come from any of
// them.
Topology among(Topology topology, const std::vector<int>& ranks) {
  int first = 0;  // first rank of the group
  for (GroupSpec& group : topology.groups) {
    if (gpu_count(group) == 0) continue;
    const int after = first + group.count;
    group.count = static_cast<int>(
        std::count_if(ranks.begin(), ranks.end(), [&](int rank) { return rank >= first && rank < after; }));
    first = after;
  }
  std::erase_if(topology.groups, [](const GroupSpec& group) { return group.count == 0; });
  topology.network.racks.reset();
  return topology;
}

}  // namespace

Result<SessionLayout> SessionLayout::make(const LayoutSettings& settings) {
  const auto strategy = strategy_named(settings.strategy);
  if (!strategy) return failure("strategy: " + strategy.error().text);
  if (const auto trains = check_trains(**strategy); !trains)
    return failure("strategy: " + trains.error().text);
  auto topology = topology_of(settings);
  if (!topology) return tl::unexpected(topology.error());
  Experiment experiment;
  experiment.topology = std::move(*topology);
  experiment.trace = stand_in();
  experiment.strategies = {settings.strategy};
  experiment.baseline = settings.strategy;
  cut_parts(Cluster(experiment.topology), experiment.options);
  auto whole = nlohmann::ordered_json::parse(whole_text(experiment, settings.strategy));
  if (!settings.settings.empty()) {
    const auto file = read_settings(settings.settings);
    if (!file) return tl::unexpected(file.error());
    for (const Value::Member& option : file->settings.members()) whole[option.name] = json(option.value);
  }
  const auto options = settings.options.empty()
                           ? nlohmann::ordered_json::object()
                           : nlohmann::ordered_json::parse(settings.options, nullptr, false);
  if (!options.is_object())
    return failure(fmt::format("options: expected a JSON object, got {}", settings.options));
  const auto known = write_options(Options{});
  for (const auto& [option, value] : options.items()) {
    if (!known.contains(option))
      return failure(fmt::format("options: a strategy has no option '{}'", option));
    whole[option] = value;
  }
  WelcomeNote note;
  note.experiment = whole.dump();
  note.strategy = settings.strategy;
  auto layout = of(note);
  if (!layout) return layout;
  // If something prevents planning, it shows with any tensor.
  if (auto plan = layout->plan({{"tensor", 1, Dtype::kF32, 0}}, {}); !plan)
    return tl::unexpected(plan.error());
  return layout;
}

Result<SessionLayout> SessionLayout::of(const WelcomeNote& note) {
  const auto file = ExperimentFile::parse(note.experiment, kOrigin);
  if (!file) return tl::unexpected(file.error());
  const auto experiment = file->experiment({});
  if (!experiment) return tl::unexpected(experiment.error());
  const auto found = contender(*experiment, note.strategy);
  if (!found) return tl::unexpected(found.error());
  SessionLayout layout;
  layout.text_ = note.experiment;
  layout.name_ = note.strategy;
  layout.topology_ = experiment->topology;
  layout.cluster_ = std::make_shared<const Cluster>(layout.topology_);
  layout.strategy_ = found->strategy;
  layout.options_ = found->options;
  layout.options_.independent_layers = true;
  for (std::size_t i = 0; i < layout.cluster_->machines().size(); ++i) {
    if (layout.cluster_->machine(MachineId(i)).gpus.empty()) layout.servers_.emplace_back(i);
  }
  return layout;
}

WelcomeNote SessionLayout::welcome() const {
  WelcomeNote note;
  note.experiment = text_;
  note.strategy = name_;
  return note;
}

MachineId SessionLayout::machine(const Role& role) const {
  const auto number = static_cast<std::size_t>(role.number);
  return role.server ? servers_[number] : cluster_->gpu_machines()[number];
}

Role SessionLayout::role(MachineId machine) const {
  const auto place = [&](const std::vector<MachineId>& among) {
    return static_cast<int>(std::find(among.begin(), among.end(), machine) - among.begin());
  };
  if (cluster_->machine(machine).gpus.empty()) return {true, place(servers_)};
  return {false, place(cluster_->gpu_machines())};
}

std::vector<NicSpec> SessionLayout::nics(MachineId machine) const {
  return nics_of(topology_, cluster_->machine(machine).group);
}

std::shared_ptr<const Cluster> SessionLayout::cluster(const std::vector<int>& ranks, bool kept) const {
  if (kept) return std::make_shared<const Cluster>(among(topology_, {0}));
  return ranks.empty() ? cluster_ : std::make_shared<const Cluster>(among(topology_, ranks));
}

std::vector<MachineId> SessionLayout::machines(const Cluster& cluster, const std::vector<int>& ranks) const {
  std::vector<MachineId> machines(cluster.machines().size());
  const std::vector<MachineId>& gpus = cluster.gpu_machines();
  for (std::size_t i = 0; i < gpus.size(); ++i)
    machines[gpus[i].index()] = machine({false, ranks.empty() ? static_cast<int>(i) : ranks[i]});
  for (std::size_t i = 0; i < servers_.size(); ++i) machines[cluster.cpu_machines()[i].index()] = servers_[i];
  return machines;
}

std::string SessionLayout::with_roles(std::string text, const Cluster& cluster,
                                      const std::vector<int>& ranks) const {
  const std::vector<MachineId> ours = machines(cluster, ranks);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::string name = "machine " + cluster.machine(MachineId(i)).name;
    const std::string who = weir::text(role(ours[i]));
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + who.size()))
      text.replace(at, name.size(), who);
  }
  return text;
}

Result<std::unique_ptr<TensorPlan>> SessionLayout::plan(const std::vector<TensorNote>& tensors,
                                                        const std::vector<int>& ranks) const {
  return planned(tensors, *strategy_, cluster(ranks), options_);
}

Result<std::unique_ptr<TensorPlan>> SessionLayout::kept_plan(const std::vector<TensorNote>& tensors) const {
  const auto strategy = strategy_named(server_strategy());
  if (!strategy) return tl::unexpected(strategy.error());
  Options options = options_;
  options.optimizer = Optimizer::kSgd;  // its update reads a delta, and reads and writes what is kept
  return planned(tensors, **strategy, cluster({0}, true), options);
}

Result<std::unique_ptr<TensorPlan>> SessionLayout::planned(const std::vector<TensorNote>& tensors,
                                                           const Strategy& strategy,
                                                           std::shared_ptr<const Cluster> cluster,
                                                           const Options& options) const {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tensors[a].priority > tensors[b].priority; });
  Trace trace = stand_in();
  trace.layers.clear();
  std::vector<int> layers(tensors.size());
  for (const std::size_t i : order) {
    const TensorNote& tensor = tensors[i];
    layers[i] = static_cast<int>(trace.layers.size());
    Layer layer{tensor.name, {}, {}, {}};
    if (tensor.elements > 0) layer.tensors.push_back({tensor.name, tensor.elements, tensor.dtype});
    trace.layers.push_back(std::move(layer));
  }
  auto made = std::make_unique<TensorPlan>(std::move(trace));
  made->layers = std::move(layers);
  if (auto fits = check_size(strategy, *cluster, made->workload, options); !fits)
    return tl::unexpected(fits.error());
  auto plan = strategy.plan(*cluster, made->workload, options);
  if (!plan) return tl::unexpected(plan.error());
  if (auto proof = prove(*plan, *cluster, made->workload); !proof) return tl::unexpected(proof.error());
  made->plan = std::move(*plan);
  made->hash = plan_hash(made->plan);
  made->cluster = std::move(cluster);
  return made;
}

}  // namespace weir::real
