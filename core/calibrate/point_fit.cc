#include "core/calibrate/point_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/base/units_text.h"
#include "core/calibrate/least_squares.h"
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

// The bytes on the busiest links. The rate is that of these links.
double carried(const Point& point) {
  const double size = static_cast<double>(point.size.count());
  return point.kind == Point::Kind::kCollective ? size * nccl::bus_factor(point.test, point.ranks) : size;
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

PointFit::Line PointFit::line(const std::vector<Point>& points, bool with_overhead) {
  Line line;
  line.of = points.front();
  line.points = static_cast<int>(points.size());
  line.least = line.most = points.front().size;
  std::set<std::string> sources;
  for (const Point& point : points) {
    line.least = std::min(line.least, point.size);
    line.most = std::max(line.most, point.size);
    sources.insert(point.source);
  }
  line.sources = {sources.begin(), sources.end()};
  with_overhead = with_overhead && line.least < line.most;
  const Eigen::Index columns = with_overhead ? 2 : 1;
  LeastSquares problem;
  problem.a.resize(std::ssize(points), columns);
  problem.b = Eigen::VectorXd::Ones(std::ssize(points));  // relative: each time divided by itself
  for (Eigen::Index i = 0; i < std::ssize(points); ++i) {
    const Point& point = points[static_cast<std::size_t>(i)];
    problem.a(i, 0) = carried(point) / point.seconds;
    if (with_overhead) problem.a(i, 1) = 1 / point.seconds;
  }
  const LeastSquaresFit fit = robust_fit(problem);
  if (with_overhead && (fit.x[1] < 0 || fit.x[0] <= 0)) return PointFit::line(points, false);
  line.judged = std::ssize(points) > columns;
  line.s_per_byte = fit.x[0];
  line.rate_error_percent = 100 * fit.standard_errors[0] / fit.x[0];
  if (with_overhead) {
    line.overhead_s = fit.x[1];
    if (fit.x[1] > 0) line.overhead_error_percent = 100 * fit.standard_errors[1] / fit.x[1];
  }
  std::vector<Predicted> own;
  for (const Point& point : points)
    own.push_back({line.overhead_s + line.s_per_byte * carried(point), point.seconds});
  line.residual_percent = misses_of(own).median;
  return line;
}

Result<PointFit> PointFit::fit(const Topology& topology, const std::vector<Point>& points) {
  std::map<decltype(key(Point{})), std::vector<Point>> apart;
  for (const Point& point : points) apart[key(point)].push_back(point);
  PointFit fit;
  for (const auto& [name, own] : apart) {
    Line made = line(own, has_overhead(own.front().kind));
    if (made.rate_error_percent <= kDeterminedPercent) {
      fit.lines_.push_back(std::move(made));
      continue;
    }
    fit.remarks_.push_back(
        fmt::format("{}: {} times of one kind do not determine a rate: its standard error is {:.0f} %",
                    made.sources.front(), made.points, made.rate_error_percent));
  }
  // In order of kind: the rate of NICs comes before the efficiency of collectives, which is relative to it.
  for (const Line& line : fit.lines_) {
    if (const auto taken = fit.take(topology, line); !taken) return tl::unexpected(taken.error());
  }
  for (const Line& line : fit.lines_) {
    if (line.judged) continue;
    fit.remarks_.push_back(
        fmt::format("{}: number of times of one kind: {}; the fit meets all of them, so its error is "
                    "unknown",
                    line.sources.front(), line.points));
  }
  return fit;
}

Result<void> PointFit::take(const Topology& topology, const Line& line) {
  switch (line.of.kind) {
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
      return line.of.hosts > 1 ? take_efficiency(topology, line) : take_collective(topology, line);
  }
  return {};
}

CalibratedValue* PointFit::add(const Line& line, const std::string& path, const Value& value,
                               std::optional<double> error_percent) {
  CalibratedValue own;
  own.path = path;
  own.value = value;
  own.sources = line.sources;
  own.points = line.points;
  const Sizes sizes = at_once(line.of, line.least, line.most);
  own.least_size = sizes.least;
  own.most_size = sizes.most;
  if (line.judged) own.standard_error_percent = error_percent;
  if (line.judged) own.residual_percent = line.residual_percent;
  const auto known = std::find_if(values_.begin(), values_.end(),
                                  [&](const CalibratedValue& other) { return other.path == path; });
  if (known == values_.end()) return &values_.emplace_back(std::move(own));
  // Two lines for one value, as from several collectives: the line with more points counts.
  if (known->points >= own.points) return nullptr;
  *known = std::move(own);
  return &*known;
}

Result<void> PointFit::take_sum(const Topology& topology, const Line& line) {
  const Point& point = line.of;
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
      add(line, path + ".memory_rate", Value(text(rate_of(line.s_per_byte / kPassesOfSum))),
          line.rate_error_percent);
      continue;
    }
    const char* own = point.one_thread ? "sum_rate_per_thread" : "sum_rate";
    add(line, fmt::format("{}.{}.{}", path, own, name(point.dtype)), Value(text(rate_of(line.s_per_byte))),
        line.rate_error_percent);
  }
  if (!any) return tl::unexpected(without(point, fmt::format("a NUMA node {}", point.numa.value_or(0))));
  return {};
}

Result<void> PointFit::take_copy(const Topology& topology, const Line& line) {
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of) || line.of.device >= gpu_count(group)) continue;
    any = true;
    add(line, fmt::format("groups.{}.gpus.{}.rate", group.name, spec_of(group.gpus, line.of.device)),
        Value(text(rate_of(line.s_per_byte))), line.rate_error_percent);
  }
  if (!any) return tl::unexpected(without(line.of, fmt::format("a GPU {}", line.of.device)));
  return {};
}

// Messages of a channel follow one another, so the extra time of each is overhead, not latency.
Result<void> PointFit::take_message(const Topology& topology, const Line& line) {
  bool any = false;
  const auto between_two = [&](CalibratedValue* value) {
    if (value == nullptr) return;
    value->machines = 2;
    if (topology.network.racks) value->racks = 1;
  };
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of)) continue;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      any = true;
      between_two(add(line, fmt::format("groups.{}.nics.{}.rate", group.name, i),
                      Value(text(rate_of(line.s_per_byte))), line.rate_error_percent));
    }
  }
  if (!any) return tl::unexpected(without(line.of, "a NIC"));
  if (line.least == line.most) {
    remarks_.push_back(line.sources.front() +
                       ": one size alone cannot separate the overhead of messages from their rate");
    return {};
  }
  between_two(add(line, std::string(kMessageOverhead), Value(text(duration_of(line.overhead_s))),
                  line.overhead_error_percent));
  return {};
}

// A lone message cannot separate overhead from latency: all of it counts as latency.
Result<void> PointFit::take_exchange(const Topology& topology, const Line& line) {
  const auto wide = [&](CalibratedValue* value) {
    if (value == nullptr) return;
    value->machines = line.of.hosts;
    if (topology.network.racks) value->racks = 1;
  };
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of) || gpu_count(group) == 0) continue;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      any = true;
      wide(add(line, fmt::format("groups.{}.nics.{}.rate", group.name, i),
               Value(text(rate_of(line.s_per_byte))), line.rate_error_percent));
    }
  }
  if (!any) return tl::unexpected(without(line.of, "GPUs and NICs"));
  if (line.least < line.most)
    wide(
        add(line, "network.latency", Value(text(duration_of(line.overhead_s))), line.overhead_error_percent));
  return {};
}

// Fits the links among a machine's GPUs that limit a ring over the first of them.
Result<void> PointFit::take_collective(const Topology& topology, const Line& line) {
  bool any = false;
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of) || gpu_count(group) < line.of.ranks) continue;
    any = true;
    Topology one;
    one.name = topology.name;
    one.groups = {group};
    one.groups.front().count = 1;
    const Cluster cluster(one);
    const std::vector<LinkValues> values = link_values(one, cluster);
    std::map<LinkId, int> weights;
    for (int gpu = 0; gpu < line.of.ranks; ++gpu) {
      const Route route =
          cluster.route(MachineId(0), Memory::gpu(gpu), Memory::gpu((gpu + 1) % line.of.ranks));
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
    for (const auto& [path, weight] : binding) {
      add(line, path, Value(text(rate_of(line.s_per_byte / weight))), line.rate_error_percent);
    }
    if (!group.nvlink || !group.nvlink->crossbar || line.least == line.most) continue;
    // An all-reduce is two collectives, and each passes two hops.
    const int hops = line.of.test == nccl::Test::kAllReduce ? 4 : 2;
    add(line, fmt::format("groups.{}.nvlink.switch.latency", group.name),
        Value(text(duration_of(line.overhead_s / hops))), line.overhead_error_percent);
  }
  if (!any) return tl::unexpected(without(line.of, fmt::format("{} GPUs", line.of.ranks)));
  return {};
}

// Over several machines, a ring's bus bandwidth is the sum of what all NICs of a machine send.
Result<void> PointFit::take_efficiency(const Topology& topology, const Line& line) {
  const int each = line.of.ranks / std::max(1, line.of.hosts);
  for (const GroupSpec& group : topology.groups) {
    if (!meant(group, line.of) || gpu_count(group) < each || group.nics.empty()) continue;
    double all = 0;
    for (std::size_t i = 0; i < group.nics.size(); ++i) {
      const std::string path = fmt::format("groups.{}.nics.{}.rate", group.name, i);
      const auto fitted = std::find_if(values_.begin(), values_.end(),
                                       [&](const CalibratedValue& value) { return value.path == path; });
      const double rate =
          static_cast<double>(fitted == values_.end() ? group.nics[i].rate.out.value()
                                                      : parse_rate(fitted->value.as_string())->value());
      all += rate * group.nics[i].count;
    }
    constexpr double kLeast = 0.01;
    const double efficiency = std::clamp(1 / line.s_per_byte / all, kLeast, 1.0);
    CalibratedValue* value =
        add(line, std::string(kAllreduceEfficiency), Value(efficiency), line.rate_error_percent);
    if (value == nullptr) return {};
    value->machines = line.of.hosts;
    if (topology.network.racks) value->racks = 1;
    return {};
  }
  return tl::unexpected(without(line.of, fmt::format("{} GPUs and a NIC", each)));
}

bool same_line(const Point& a, const Point& b) { return key(a) == key(b); }

bool PointFit::judged(const Point& point) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const Line& line) { return line.judged && same_line(line.of, point); });
}

std::vector<Predicted> PointFit::predict(const std::vector<Point>& points) const {
  std::vector<Predicted> all;
  for (const Point& point : points) {
    const auto own = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const Line& line) { return same_line(line.of, point); });
    if (own != lines_.end())
      all.push_back({own->overhead_s + own->s_per_byte * carried(point), point.seconds});
  }
  return all;
}

}  // namespace weir
