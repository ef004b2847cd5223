#include "core/calibrate/point_line.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/units_text.h"
#include "core/calibrate/least_squares.h"
#include "core/formats/nccl/nccl_tests.h"

namespace weir {
namespace {

// The bytes on the busiest links. The rate is that of these links.
double carried(const Point& point) {
  const double size = static_cast<double>(point.size.count());
  return point.kind == Point::Kind::kCollective ? size * nccl::bus_factor(point.test, point.ranks) : size;
}

double bytes_per_s(const Value& rate) {
  const bool one = rate.is(Value::Kind::kString);
  const std::string& text = one ? rate.as_string() : rate.members().front().value.as_string();
  return static_cast<double>(parse_rate(text)->value());
}

}  // namespace

PointLine PointLine::fit(std::vector<Point> points, bool with_overhead) {
  PointLine line;
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
  if (with_overhead && (fit.x[1] < 0 || fit.x[0] <= 0)) {
    PointLine bounded = PointLine::fit(std::move(points), false);
    bounded.below_zero = fit.x[1] < 0;
    return bounded;
  }
  line.judged = std::ssize(points) > columns;
  line.s_per_byte = fit.x[0];
  line.rate_error_percent = 100 * fit.standard_errors[0] / fit.x[0];
  if (with_overhead) {
    line.overhead_s = fit.x[1];
    if (fit.x[1] > 0) line.overhead_error_percent = 100 * fit.standard_errors[1] / fit.x[1];
  }
  line.own = std::move(points);
  return line;
}

std::optional<Predicted> PointLine::predicted(const Point& point, const Values& values) const {
  std::optional<double> each;
  std::optional<double> overhead;
  for (const LinePart& part : parts) {
    const auto value = values.find(part.path);
    if (value == values.end()) continue;
    if (part.role == LinePart::Role::kTime && !overhead)
      overhead = part.factor * parse_duration(value->second.as_string())->seconds();
    if (part.role == LinePart::Role::kRate && !each) each = part.factor / bytes_per_s(value->second);
    if (part.role == LinePart::Role::kShare && !each)
      each = 1 / (value->second.as_double() * rate_of(part.nics, values));
  }
  if (!each) return std::nullopt;
  return Predicted{overhead.value_or(overhead_s) + *each * carried(point), point.seconds};
}

double PointLine::residual_percent(const Values& values) const {
  std::vector<Predicted> all;
  for (const Point& point : own) {
    if (const auto one = predicted(point, values)) all.push_back(*one);
  }
  return misses_of(all).median;
}

double rate_of(const std::vector<LinePart::Nics>& nics, const Values& values) {
  double all = 0;
  for (const LinePart::Nics& one : nics) {
    const auto value = values.find(one.path);
    all += one.count * (value == values.end() ? one.rate : bytes_per_s(value->second));
  }
  return all;
}

}  // namespace weir
