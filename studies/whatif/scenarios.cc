#include "studies/whatif/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/cluster/topology_file.h"
#include "core/document/read_fields.h"

namespace weir {
namespace {

constexpr int kMostCount = 4096;           // as for a group
constexpr std::size_t kMostRuns = 10'000;  // as for an experiment's points
constexpr int kUsualCounts = 16;           // at most this many steps by default

/// Wishes with units; at most one of each price. (g++ 12 warns that an empty optional price is used.)
struct Read {
  std::vector<BytesPerSecond> nics;
  std::vector<BytesPerSecond> gpu_nics;
  std::vector<BytesPerSecond> cpu_nics;
  std::vector<LocalStage> locals;
  std::vector<Price> gpu_price;
  std::vector<Price> cpu_price;
};

template <class Visitor>
void fields(Visitor& visitor, Read& read) {
  visitor.optional("nics", read.nics, "");
  visitor.optional("gpu_nics", read.gpu_nics, "");
  visitor.optional("cpu_nics", read.cpu_nics, "");
  visitor.optional("locals", read.locals, "");
  visitor.optional("gpu_price", read.gpu_price, "");
  visitor.optional("cpu_price", read.cpu_price, "");
}

// Reads wishes as files are read, so that the same limits and errors apply.
Result<Read> read(const Wishes& wishes) {
  Value document = Value::object();
  const auto add = [&](const char* wish, const std::vector<std::string>& texts) {
    Value list = Value::array();
    for (const std::string& text : texts) {
      Value value(text);
      value.written_at(wish);
      list.append(std::move(value));
    }
    document.append(wish, std::move(list));
  };
  add("nics", wishes.nics);
  add("gpu_nics", wishes.gpu_nics);
  add("cpu_nics", wishes.cpu_nics);
  add("locals", wishes.locals);
  if (!wishes.gpu_price.empty()) add("gpu_price", {wishes.gpu_price});
  if (!wishes.cpu_price.empty()) add("cpu_price", {wishes.cpu_price});
  return read_fields<Read>(document);
}

bool has_gpus(const GroupSpec& group) { return gpu_count(group) > 0; }

std::optional<int> count_of(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) return std::nullopt;
  return count;
}

Result<std::vector<int>> read_counts(const std::vector<std::string>& texts) {
  constexpr std::string_view kTo = "..";
  std::set<int> counts;
  for (const std::string& text : texts) {
    const std::size_t middle = text.find(kTo);
    const std::optional<int> first = count_of(std::string_view(text).substr(0, middle));
    const std::optional<int> last =
        middle == std::string::npos ? first : count_of(std::string_view(text).substr(middle + kTo.size()));
    if (!first || !last || *last < *first) {
      return failure(fmt::format("counts: '{}' is not a number of machines; try 0..16 or 0,2,4", text));
    }
    if (*last > kMostCount) {
      return failure(fmt::format("counts: {} is too large; at most {}", *last, kMostCount));
    }
    for (int count = *first; count <= *last; ++count) counts.insert(count);
  }
  return std::vector<int>(counts.begin(), counts.end());
}

// From none to the number of GPU machines, in a few steps.
std::vector<int> usual_counts(const Topology& topology) {
  int machines = 0;
  for (const GroupSpec& group : topology.groups) machines += has_gpus(group) ? group.count : 0;
  machines = std::min(machines, kMostCount);
  const int steps = std::min(machines, kUsualCounts);
  std::vector<int> counts = {0};
  for (int i = 1; i <= steps; ++i) counts.push_back(i * machines / steps);
  return counts;
}

void set_nics(GroupSpec& group, BytesPerSecond rate) {
  for (NicSpec& nic : group.nics) nic.rate = {rate, rate};
}

// A machine like the GPU machines, but with neither GPUs nor switches, and with one NIC.
GroupSpec plain_group(const Topology& topology, BytesPerSecond rate) {
  const auto like = std::find_if(topology.groups.begin(), topology.groups.end(), has_gpus);
  GroupSpec group;
  group.name = "cpu";
  group.numa = {like->numa.front()};
  NicSpec nic;
  nic.at = "numa0";
  nic.rate = {rate, rate};
  if (!like->nics.empty()) nic.latency = like->nics.front().latency;
  group.nics = {nic};
  return group;
}

using MaybeRate = std::optional<BytesPerSecond>;

// Ascending; if no rate is requested, as in the topology.
std::vector<MaybeRate> choices(std::vector<BytesPerSecond> rates) {
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  if (rates.empty()) return {std::nullopt};
  return {rates.begin(), rates.end()};
}

std::vector<std::pair<MaybeRate, MaybeRate>> nic_choices(const Read& wishes) {
  std::vector<std::pair<MaybeRate, MaybeRate>> pairs;
  if (!wishes.nics.empty()) {
    for (const MaybeRate& rate : choices(wishes.nics)) pairs.emplace_back(rate, rate);
    return pairs;
  }
  for (const MaybeRate& gpu : choices(wishes.gpu_nics)) {
    for (const MaybeRate& cpu : choices(wishes.cpu_nics)) pairs.emplace_back(gpu, cpu);
  }
  return pairs;
}

template <class T>
std::vector<T> each_once(const std::vector<T>& values) {
  std::vector<T> once;
  for (const T& value : values) {
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  }
  return once;
}

// Whether the experiment uses all counted machines too.
Result<void> all_counted(const Experiment& experiment, std::size_t group) {
  const Cluster cluster(experiment.topology);
  const std::vector<MachineId> own = machines_named(experiment.machines, cluster);
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    const Machine& machine = cluster.machines()[i];
    if (machine.group != experiment.topology.groups[group].name) continue;
    if (std::find(own.begin(), own.end(), MachineId(i)) != own.end()) continue;
    return failure(fmt::format("{} is counted, but the experiment's 'machines', {}, do not include it",
                               machine.name, quoted(experiment.machines)));
  }
  return {};
}

}  // namespace

std::string text(const Scenario& scenario) {
  std::vector<std::string> parts;
  if (scenario.gpu_nic && scenario.gpu_nic == scenario.cpu_nic) {
    parts.push_back(fmt::format("NICs of {}", text(*scenario.gpu_nic)));
  } else {
    if (scenario.gpu_nic) parts.push_back(fmt::format("GPU machines' NICs of {}", text(*scenario.gpu_nic)));
    if (scenario.cpu_nic) parts.push_back(fmt::format("CPU machines' NICs of {}", text(*scenario.cpu_nic)));
  }
  if (scenario.local) parts.push_back(fmt::format("local stage {}", enum_name(*scenario.local)));
  return parts.empty() ? scenario.strategy
                       : fmt::format("{} with {}", scenario.strategy, fmt::join(parts, ", "));
}

Result<void> Scenarios::find_group(const Wishes& wishes, const std::vector<BytesPerSecond>& nics) {
  std::vector<GroupSpec>& groups = base_.topology.groups;
  std::vector<std::string> without;
  for (const GroupSpec& group : groups) {
    if (!has_gpus(group)) without.push_back(group.name);
  }
  if (!wishes.group.empty()) {
    const auto named = std::find(without.begin(), without.end(), wishes.group);
    if (named == without.end()) {
      return failure(fmt::format("group: '{}' is not a group of machines without GPUs; {}", wishes.group,
                                 without.empty() ? "there is none" : "there are " + quoted(without)));
    }
    without = {*named};
  }
  if (without.size() > 1) {
    return failure(
        fmt::format("group: there are {} groups of machines without GPUs, {}; choose the one to count",
                    without.size(), quoted(without)));
  }
  if (without.empty()) {
    if (nics.empty()) {
      return failure(
          "cpu_nics: the topology has no group of machines without GPUs; a rate, such as 100Gbps, gives it "
          "one");
    }
    made_up_ = true;
    groups.push_back(plain_group(base_.topology, nics.front()));
    without = {groups.back().name};
  }
  group_ = static_cast<std::size_t>(
      std::find_if(groups.begin(), groups.end(),
                   [&](const GroupSpec& group) { return group.name == without.front(); }) -
      groups.begin());
  return {};
}

Result<Scenarios> Scenarios::of(const Experiment& base, const Wishes& wishes) {
  const auto read = weir::read(wishes);
  if (!read) return tl::unexpected(read.error());
  Scenarios result;
  result.base_ = base;
  Topology& topology = result.base_.topology;
  const auto found = result.find_group(wishes, read->nics.empty() ? read->cpu_nics : read->nics);
  if (!found) return tl::unexpected(found.error());
  auto counts = read_counts(wishes.counts);
  if (!counts) return tl::unexpected(counts.error());
  result.counts_ = counts->empty() ? usual_counts(topology) : std::move(*counts);
  for (GroupSpec& group : topology.groups) {
    if (!read->gpu_price.empty() && has_gpus(group)) group.price = read->gpu_price.front();
  }
  if (!read->cpu_price.empty()) topology.groups[result.group_].price = read->cpu_price.front();
  topology.groups[result.group_].count = result.counts_.back();
  if (const auto right = check_topology(topology); !right) {
    return failure(fmt::format("with {} machines in '{}': {}", result.counts_.back(), result.group(),
                               right.error().text));
  }
  if (const auto has = all_counted(result.base_, result.group_); !has) return tl::unexpected(has.error());

  std::vector<std::optional<LocalStage>> locals = {std::nullopt};
  const std::vector<LocalStage> asked = each_once(read->locals);
  if (!asked.empty()) locals.assign(asked.begin(), asked.end());
  for (const auto& [gpu, cpu] : nic_choices(*read)) {
    for (const std::optional<LocalStage>& local : locals) {
      for (const std::string& strategy : each_once(wishes.strategies)) {
        result.scenarios_.push_back({strategy, gpu, cpu, local});
      }
    }
  }
  const std::size_t runs = result.scenarios_.size() * result.counts_.size();
  if (runs > kMostRuns) {
    return failure(
        fmt::format("counts: {} runs are too many; at most {}; ask for fewer counts", runs, kMostRuns));
  }
  return result;
}

Experiment Scenarios::experiment(const Scenario& scenario, int count) const {
  Experiment experiment = base_;
  for (GroupSpec& group : experiment.topology.groups) {
    if (scenario.gpu_nic && has_gpus(group)) set_nics(group, *scenario.gpu_nic);
  }
  GroupSpec& counted = experiment.topology.groups[group_];
  counted.count = count;
  if (scenario.cpu_nic) set_nics(counted, *scenario.cpu_nic);
  if (scenario.local) experiment.options.local = *scenario.local;
  return experiment;
}

std::optional<std::string> Scenarios::unpriced() const {
  for (const GroupSpec& group : base_.topology.groups) {
    if (group.count > 0 && !group.price) return group.name;
  }
  return std::nullopt;
}

std::string Scenarios::currency() const {
  for (const GroupSpec& group : base_.topology.groups) {
    if (group.price) return group.price->currency();
  }
  return {};
}

double price_an_hour(const Topology& topology) {
  double sum = 0;
  for (const GroupSpec& group : topology.groups) {
    if (group.count > 0) sum += group.count * group.price->an_hour();
  }
  return sum;
}

}  // namespace weir
