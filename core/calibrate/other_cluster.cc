#include "core/calibrate/other_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units_text.h"

namespace weir {
namespace {

std::string of(const GroupSpec& group, const std::string& what) {
  return fmt::format("its machines of group '{}' have {}", group.name, what);
}

// Differences in parts that both state and that no fit changes.
std::optional<std::string> other_stated(const GroupSpec& own, const GroupSpec& group) {
  const auto differ = [](auto a, auto b) { return a != decltype(a){} && b != decltype(b){} && a != b; };
  for (std::size_t i = 0; i < group.numa.size(); ++i) {
    if (differ(group.numa[i].cores, own.numa[i].cores))
      return of(group,
                fmt::format("{} cores on NUMA node {}, not {}", group.numa[i].cores, i, own.numa[i].cores));
    if (differ(group.numa[i].memory, own.numa[i].memory))
      return of(group, fmt::format("{} of memory on NUMA node {}, not {}", text(group.numa[i].memory), i,
                                   text(own.numa[i].memory)));
  }
  for (std::size_t i = 0; i < group.gpus.size(); ++i) {
    if (differ(group.gpus[i].memory, own.gpus[i].memory))
      return of(group,
                fmt::format("GPUs of {}, not {}", text(group.gpus[i].memory), text(own.gpus[i].memory)));
    if (group.gpus[i].speed != own.gpus[i].speed)
      return of(group, fmt::format("GPUs of speed {}, not {}", group.gpus[i].speed, own.gpus[i].speed));
  }
  return std::nullopt;
}

// Differences in the parts of the group's machines.
std::optional<std::string> other_make(const GroupSpec& own, const GroupSpec& group) {
  if ((gpu_count(own) > 0) != (gpu_count(group) > 0) || own.gpus.size() != group.gpus.size() ||
      own.nics.size() != group.nics.size())
    return of(group, "different devices");
  if (nic_count(own) != nic_count(group))
    return of(group, fmt::format("{} NICs, not {}", nic_count(group), nic_count(own)));
  if (own.numa.size() != group.numa.size())
    return of(group, fmt::format("{} NUMA nodes, not {}", group.numa.size(), own.numa.size()));
  if (own.switches.size() != group.switches.size())
    return of(group, fmt::format("{} PCIe switches, not {}", group.switches.size(), own.switches.size()));
  if (own.nvlink.has_value() != group.nvlink.has_value())
    return of(group, group.nvlink ? "NVLink, but these have none" : "no NVLink, but these have it");
  return other_stated(own, group);
}

constexpr double kNear = 1.5;

bool near(BytesPerSecond one, BytesPerSecond other) {
  const double ratio = static_cast<double>(one.value()) / static_cast<double>(other.value());
  return ratio <= kNear && ratio >= 1 / kNear;
}

std::optional<BytesPerSecond> rate_of(const Value& value) {
  if (!value.is(Value::Kind::kString)) return std::nullopt;
  const auto rate = parse_rate(value.as_string());
  return rate ? std::optional(*rate) : std::nullopt;
}

// The value before the calibration that gave the present one. Runs measured before the calibration have it.
std::optional<BytesPerSecond> rate_before(const Topology& topology, const std::string& path,
                                          BytesPerSecond here) {
  if (!topology.calibration) return std::nullopt;
  for (const CalibratedValue& value : topology.calibration->values) {
    if (value.path == path && rate_of(value.value) == here) return rate_of(Value(value.was));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> other_cluster(const Topology& topology, const Topology& run) {
  for (const GroupSpec& group : run.groups) {
    if (group.count == 0) continue;
    const auto own = std::find_if(topology.groups.begin(), topology.groups.end(),
                                  [&](const GroupSpec& other) { return other.name == group.name; });
    if (own == topology.groups.end()) return fmt::format("this topology has no group '{}'", group.name);
    if (auto other = other_make(*own, group)) return other;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      const std::string path = fmt::format("groups.{}.nics.{}.rate", group.name, i);
      const BytesPerSecond there = group.nics[i].rate.out;
      const BytesPerSecond here = own->nics[i].rate.out;
      if (!near(there, here) && !near(there, rate_before(topology, path, here).value_or(here)))
        return fmt::format("{} is {} there, but {} here", path, text(there), text(here));
    }
  }
  return std::nullopt;
}

std::optional<std::string> doubt(const CalibratedValue& value) {
  constexpr double kFar = 2;
  if (!value.value.is(Value::Kind::kString)) return std::nullopt;
  const auto now = parse_rate(value.value.as_string());
  const auto was = parse_rate(value.was);
  if (!now || !was || !now->limited() || !was->limited()) return std::nullopt;
  const double ratio = static_cast<double>(now->value()) / static_cast<double>(was->value());
  if (ratio <= kFar && ratio >= 1 / kFar) return std::nullopt;
  return fmt::format("{}: measured {}, but the topology says {}: was {} measured on these machines?",
                     value.path, rounded(*now), rounded(*was), fmt::join(value.sources, ", "));
}

}  // namespace weir
