#include "core/calibrate/point_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/base/units_text.h"
#include "core/calibrate/uses.h"
#include "core/cluster/cluster.h"
#include "core/cluster/link_values.h"
#include "core/hardware/work.h"

namespace weir {
namespace {

// A value with a larger standard error is not determined.
constexpr double kDeterminedPercent = 10;

// Points with different keys are on different lines.
auto key(const Point& point) {
  return std::tuple(point.kind, point.group, point.dtype, point.one_thread, point.numa.value_or(-1),
                    point.device, point.test, point.ranks, point.hosts);
}

// In simulation, copies and sums have no overhead: their rate is what the measured sizes achieve.
bool has_overhead(Point::Kind kind) {
  return kind == Point::Kind::kMessage || kind == Point::Kind::kExchange || kind == Point::Kind::kCollective;
}

// The smallest and the largest message, copy or sum in points of these sizes. Ranks share whole elements, so
// some have one more than others.
Sizes at_once(const Point& point, Bytes least, Bytes most) {
  if (point.kind != Point::Kind::kCollective) return {least, most};
  constexpr std::int64_t kElement = 8;  // bytes of the largest element
  const Bytes low = nccl::passed_at_once(point.test, point.ranks, least);
  const Bytes below_high = nccl::passed_at_once(point.test, point.ranks, most - Bytes(1));
  return {Bytes(low.count() / kElement * kElement), Bytes((below_high.count() / kElement + 1) * kElement)};
}

BytesPerSecond rate_of(double s_per_byte) {
  return BytesPerSecond(std::max<std::int64_t>(1, std::llround(1 / s_per_byte)));
}

Duration duration_of(double seconds) { return Duration(std::llround(std::max(0.0, seconds) * 1e9)); }

bool meant(const GroupSpec& group, const Point& point) {
  return point.group.empty() || point.group == group.name;
}

Error without(const Point& point, const std::string& what) {
  const std::string where = point.group.empty() ? "the topology" : "group '" + point.group + "'";
  return Error{fmt::format("{}: no machine of {} has {}", point.source, where, what)};
}

}  // namespace

Result<PointFit> PointFit::fit(const Topology& topology, const std::vector<Point>& points) {
  std::map<decltype(key(Point{})), std::vector<Point>> apart;
  for (const Point& point : points) apart[key(point)].push_back(point);
  PointFit fit;
  for (const auto& [name, own] : apart) {
    PointLine made = PointLine::fit(own, has_overhead(own.front().kind));
    if (made.rate_error_percent <= kDeterminedPercent) {
      fit.lines_.push_back(std::move(made));
      continue;
    }
    fit.remarks_.push_back(
        fmt::format("{}: {} times of one kind do not determine a rate: its standard error is {:.0f} %",
                    made.sources.front(), own.size(), made.rate_error_percent));
  }
  // In order of kind: the rate of NICs comes before the efficiency of collectives, which is relative to it.
  for (PointLine& line : fit.lines_) {
    if (const auto taken = fit.take(topology, line); !taken) return tl::unexpected(taken.error());
  }
  for (const PointLine& line : fit.lines_) {
    if (line.judged) continue;
    fit.remarks_.push_back(
        fmt::format("{}: number of times of one kind: {}; the fit meets all of them, so its error is "
                    "unknown",
                    line.sources.front(), line.own.size()));
  }
  const Values written = fit.written();
  for (CalibratedValue& value : fit.values_)
    value.residual_percent = fit.residual_percent(value.path, written);
  fit.remark_conflicts(written);
  return fit;
}

Result<void> PointFit::take(const Topology& topology, PointLine& line) {
  switch (line.of().kind) {
    case Point::Kind::kSum:
    case Point::Kind::kMemory:
      return take_sum(topology, line);
    case Point::Kind::kCopy:
      return take_copy(topology, line);
    case Point::Kind::kMessage:
      return take_message(topology, line);
    case Point::Kind::kExchange:
      return take_exchange(topology, line);
    case Point::Kind::kCollective:
      return line.of().hosts > 1 ? take_efficiency(topology, line) : take_collective(topology, line);
  }
  return {};
}

CalibratedValue* PointFit::add(PointLine& line, const LinePart& part, const Value& value) {
  line.parts.push_back(part);
  CalibratedValue own;
  own.path = part.path;
  own.value = value;
  own.sources = line.sources;
  own.points = static_cast<int>(line.own.size());
  const Sizes sizes = at_once(line.of(), line.least, line.most);
  own.least_size = sizes.least;
  own.most_size = sizes.most;
  if (line.judged) {
    const bool time = part.role == LinePart::Role::kTime;
    own.standard_error_percent = time ? line.overhead_error_percent : line.rate_error_percent;
  }
  const auto number = static_cast<std::size_t>(&line - lines_.data());
  const auto known = std::find_if(values_.begin(), values_.end(),
                                  [&](const CalibratedValue& other) { return other.path == own.path; });
  // Two lines for one value, as from several collectives: the line with more points counts.
  if (known != values_.end() && known->points >= own.points) return nullptr;
  givers_[own.path] = number;
  if (known == values_.end()) return &values_.emplace_back(std::move(own));
  *known = std::move(own);
  return &*known;
}

CalibratedValue* PointFit::add_rate(PointLine& line, const std::string& path, double factor) {
  return add(line, {LinePart::Role::kRate, path, factor, {}}, Value(text(rate_of(line.s_per_byte / factor))));
}

CalibratedValue* PointFit::add_time(PointLine& line, const std::string& path, double factor) {
  if (line.below_zero) {
    remarks_.push_back(
        fmt::format("{}: {}: the times fit best with less than 0s; 0s is written, and errors are those of 0s",
                    line.sources.front(), path));
  }
  return add(line, {LinePart::Role::kTime, path, factor, {}},
             Value(text(duration_of(line.overhead_s / factor))));
}

// Several measurements of one value may contradict each other.
void PointFit::remark_conflicts(const Values& written) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const PointLine& line = lines_[i];
    const auto gives = [&](const LinePart& part) {
      const auto giver = givers_.find(part.path);
      return giver != givers_.end() && giver->second == i;
    };
    if (line.parts.empty() || std::ranges::any_of(line.parts, gives)) continue;
    const double wrong = line.residual_percent(written);
    if (wrong <= kWrongPercent) continue;
    remarks_.push_back(
        fmt::format("{}: {} has its value from other measurements, which predict these times {:.0f} % "
                    "wrong",
                    line.sources.front(), line.parts.front().path, wrong));
  }
}

Values PointFit::written() const {
  Values written;
  for (const CalibratedValue& value : values_) written[value.path] = value.value;
  return written;
}

Result<void> PointFit::take_sum(const Topology& topology, PointLine& line) {
  const Point& point = line.of();
  const bool sum = point.kind == Point::Kind::kSum;
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, point)) continue;
    const auto numas = static_cast<int>(group.numa.size());
    if (!point.numa && numas > 1) {
      remarks_.push_back(
          fmt::format("{}: measures all {} NUMA nodes of '{}' together; measure one with --numa",
                      point.source, numas, group.name));
      any = true;
      continue;
    }
    const int numa = point.numa.value_or(0);
    if (numa >= numas) continue;
    any = true;
    const NumaSpec& spec = group.numa[static_cast<std::size_t>(numa)];
    if (point.one_thread && spec.sum_threads == 0) continue;
    const std::string path = fmt::format("groups.{}.numa.{}", group.name, numa);
    if (!sum) {
      // A sum of b bytes moves three times as many through memory.
      add_rate(line, path + ".memory_rate", kPassesOfSum);
      continue;
    }
    const char* own = point.one_thread ? "sum_rate_per_thread" : "sum_rate";
    add_rate(line, fmt::format("{}.{}.{}", path, own, name(point.dtype)), 1);
  }
  if (!any) return tl::unexpected(without(point, fmt::format("a NUMA node {}", point.numa.value_or(0))));
  return {};
}

Result<void> PointFit::take_copy(const Topology& topology, PointLine& line) {
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of()) || line.of().device >= gpu_count(group)) continue;
    any = true;
    add_rate(line, fmt::format("groups.{}.gpus.{}.rate", group.name, spec_of(group.gpus, line.of().device)),
             1);
  }
  if (!any) return tl::unexpected(without(line.of(), fmt::format("a GPU {}", line.of().device)));
  return {};
}

// Messages of a channel follow one another, so the extra time of each is overhead, not latency.
Result<void> PointFit::take_message(const Topology& topology, PointLine& line) {
  bool any = false;
  const auto between_two = [&](CalibratedValue* value) {
    if (value == nullptr) return;
    value->machines = 2;
    if (topology.network.racks) value->racks = 1;
  };
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of())) continue;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      any = true;
      between_two(add_rate(line, fmt::format("groups.{}.nics.{}.rate", group.name, i), 1));
    }
  }
  if (!any) return tl::unexpected(without(line.of(), "a NIC"));
  if (line.least == line.most) {
    remarks_.push_back(line.sources.front() +
                       ": one size alone cannot separate the overhead of messages from their rate");
    return {};
  }
  between_two(add_time(line, std::string(kMessageOverhead), 1));
  return {};
}

// A lone message cannot separate overhead from latency: all of it counts as latency.
Result<void> PointFit::take_exchange(const Topology& topology, PointLine& line) {
  const auto wide = [&](CalibratedValue* value) {
    if (value == nullptr) return;
    value->machines = line.of().hosts;
    if (topology.network.racks) value->racks = 1;
  };
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of()) || gpu_count(group) == 0) continue;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      any = true;
      wide(add_rate(line, fmt::format("groups.{}.nics.{}.rate", group.name, i), 1));
    }
  }
  if (!any) return tl::unexpected(without(line.of(), "GPUs and NICs"));
  if (line.least < line.most) wide(add_time(line, "network.latency", 1));
  return {};
}

// Fits the links among a machine's GPUs that limit a ring over the first of them.
Result<void> PointFit::take_collective(const Topology& topology, PointLine& line) {
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of()) || gpu_count(group) < line.of().ranks) continue;
    any = true;
    Topology one;
    one.name = topology.name;
    one.groups = {group};
    one.groups.front().count = 1;
    const Cluster cluster(one);
    const std::vector<LinkValues> values = link_values(one, cluster);
    std::map<LinkId, int> weights;
    for (int gpu = 0; gpu < line.of().ranks; ++gpu) {
      const Route route =
          cluster.route(MachineId(0), Memory::gpu(gpu), Memory::gpu((gpu + 1) % line.of().ranks));
      for (const LinkId link : route.links) ++weights[link];
    }
    const auto each = [&](LinkId link) {
      return static_cast<double>(cluster.link(link).rate.value()) / weights[link];
    };
    double least = 0;
    for (const auto& [link, weight] : weights) least = least == 0 ? each(link) : std::min(least, each(link));
    std::map<std::string, int> binding;
    for (const auto& [link, weight] : weights) {
      constexpr double kEqual = 1e-9;
      if (each(link) <= least * (1 + kEqual)) binding[values[link.index()].rate] = weight;
    }
    if (binding.empty())
      remarks_.push_back(
          line.sources.front() +
          ": no link with a limited rate joins the GPUs; state a rate for one, so that it can be fitted");
    for (const auto& [path, weight] : binding) add_rate(line, path, weight);
    if (!group.nvlink || !group.nvlink->crossbar || line.least == line.most) continue;
    // An all-reduce is two collectives, and each passes two hops.
    const int hops = line.of().test == nccl::Test::kAllReduce ? 4 : 2;
    add_time(line, fmt::format("groups.{}.nvlink.switch.latency", group.name), hops);
  }
  if (!any) return tl::unexpected(without(line.of(), fmt::format("{} GPUs", line.of().ranks)));
  return {};
}

// The efficiency that the line needs of NICs with this rate together; none if no value in its range is near.
std::optional<double> PointFit::efficiency_of(const PointLine& line, double all, const std::string& group) {
  constexpr double kNear = 0.02;
  const double needed = 1 / line.s_per_byte / all;
  if (needed >= kLeastEfficiency && needed <= 1) return needed;
  const double edge = needed > 1 ? 1.0 : kLeastEfficiency;
  const auto rate = [](double bytes) { return rounded(BytesPerSecond(std::llround(bytes))); };
  const std::string why = fmt::format(
      "{}: all-reduces over {} machines reach {} a machine (bus bandwidth), but its NICs have {} together in "
      "group "
      "'{}' of the topology: {} would be {:.3g}, and must be from {} to 1",
      line.sources.front(), line.of().hosts, rate(1 / line.s_per_byte), rate(all), group,
      kAllreduceEfficiency, needed, kLeastEfficiency);
  if (std::abs(needed / edge - 1) <= kNear) {
    remarks_.push_back(fmt::format("{}; {} is written, and errors are those of {}", why, edge, edge));
    return edge;
  }
  remarks_.push_back(fmt::format(
      "{}; it stays as it was. {}", why,
      needed > 1
          ? "Either the topology states too few or too slow NICs, or this traffic does not go through NICs "
            "(NVLink joins the machines), or switches sum it"
          : "Either the topology states other NICs than these machines have, or the job used another "
            "network"));
  return std::nullopt;
}

// Over several machines, a ring's bus bandwidth is the sum of what all NICs of a machine send.
Result<void> PointFit::take_efficiency(const Topology& topology, PointLine& line) {
  const int each = line.of().ranks / std::max(1, line.of().hosts);
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of()) || gpu_count(group) < each || group.nics.empty()) continue;
    LinePart part{LinePart::Role::kShare, std::string(kAllreduceEfficiency), 1, {}};
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      const NicSpec& nic = group.nics[i];
      if (!nic.rate.out.limited()) {
        remarks_.push_back(
            fmt::format("{}: a NIC of group '{}' has an unlimited rate, so no fraction of it can be "
                        "fitted; state its rate",
                        line.sources.front(), group.name));
        return {};
      }
      part.nics.push_back({fmt::format("groups.{}.nics.{}.rate", group.name, i),
                           static_cast<double>(nic.rate.out.value()), nic.count});
    }
    const double all = rate_of(part.nics, written());
    const auto efficiency = efficiency_of(line, all, group.name);
    if (!efficiency) return {};
    CalibratedValue* value = add(line, part, Value(*efficiency));
    if (value == nullptr) return {};
    value->machines = line.of().hosts;
    if (topology.network.racks) value->racks = 1;
    return {};
  }
  return tl::unexpected(without(line.of(), fmt::format("{} GPUs and a NIC", each)));
}

bool same_line(const Point& a, const Point& b) { return key(a) == key(b); }

bool PointFit::judged(const Point& point) const {
  return std::ranges::any_of(
      lines_, [&](const PointLine& line) { return line.judged && same_line(line.of(), point); });
}

std::vector<Predicted> PointFit::predict(const std::vector<Point>& points, const Values& values) const {
  std::vector<Predicted> all;
  for (const Point& point : points) {
    const auto own =
        std::ranges::find_if(lines_, [&](const PointLine& line) { return same_line(line.of(), point); });
    if (own == lines_.end()) continue;
    if (const auto one = own->predicted(point, values)) all.push_back(*one);
  }
  return all;
}

std::optional<double> PointFit::residual_percent(const std::string& path, const Values& values) const {
  const auto giver = givers_.find(path);
  if (giver == givers_.end() || !lines_[giver->second].judged) return std::nullopt;
  return lines_[giver->second].residual_percent(values);
}

}  // namespace weir
