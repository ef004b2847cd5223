#include "core/tune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/check.h"
#include "core/tune/expected_improvement.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostCandidates = 20'000;  // points whose values are predicted for one choice
constexpr double kLeastNoise = 1e-3;             // of scores with deviation 1

// The score that processes are fitted to. It makes large differences between points near the best, and small
// ones between points that take twice as long. A process that also had to fit poor points would blur good
// ones.
double score(double value, double least) { return -std::pow(least / value, 8); }

// All attempts with their scores, scaled to mean 0 and deviation 1. Impossible points score like the worst
// possible one.
std::optional<Measurements> measurements_of(const Space& space, const std::vector<Attempt>& attempts) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Attempt& attempt : attempts) {
    if (!attempt.value) continue;
    least = std::min(least, *attempt.value);
    most = std::max(most, *attempt.value);
  }
  if (most == 0) return std::nullopt;
  Measurements all{{}, {}, space.owners()};
  all.points.resize(std::ssize(attempts), std::ssize(all.owners));
  all.values.resize(std::ssize(attempts));
  for (Eigen::Index i = 0; i < all.values.size(); ++i) {
    const Attempt& attempt = attempts[static_cast<std::size_t>(i)];
    all.points.row(i) = space.coordinates(attempt.point);
    all.values(i) = score(attempt.value.value_or(most), least);
  }
  all.values.array() -= all.values.mean();
  const double deviation = std::sqrt(all.values.array().square().mean());
  if (deviation > 0) all.values /= deviation;
  return all;
}

GaussianProcess process_of(const Measurements& measurements) {
  return {measurements, fitted_kernel(measurements, kLeastNoise)};
}

// The predicted mean at each measured point.
Eigen::VectorXd means(const GaussianProcess& process, const Measurements& measurements) {
  Eigen::VectorXd all(measurements.values.size());
  for (Eigen::Index i = 0; i < all.size(); ++i) all(i) = process.at(measurements.points.row(i)).mean;
  return all;
}

}  // namespace

Search::Search(Space space, SearchSettings settings)
    : space_(std::move(space)), settings_(std::move(settings)), random_(settings_.seed) {
  WEIR_CHECK(settings_.trials > 0);
}

bool Search::tried(const Point& point) const {
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [&](const Attempt& attempt) { return attempt.point == point; });
}

void Search::add_attempt(const Point& point, std::optional<double> value) {
  WEIR_CHECK(!value || *value > 0, value.value_or(0));
  attempts_.push_back({point, value});
}

std::vector<Point> Search::next() {
  WEIR_CHECK(attempts_.size() <= settings_.trials, attempts_.size(), settings_.trials);
  if (!begun_) {
    begun_ = true;
    return settings_.method == Method::kGrid ? space_.grid(settings_.trials) : beginning();
  }
  if (settings_.method != Method::kBayes || left() == 0) return {};
  const std::optional<Point> point = most_promising();
  if (!point) return {};
  return {*point};
}

std::vector<Point> Search::beginning() {
  std::vector<Point> points;
  if (settings_.first) points.push_back(*settings_.first);
  const std::size_t few = space_.dimensions().size() + 3;
  const std::size_t most = settings_.method == Method::kRandom ? settings_.trials : few;
  const std::size_t count = std::min({most, settings_.trials, space_.size()});
  std::set<Point> known(points.begin(), points.end());
  const auto add = [&](Point point) {
    if (points.size() < count && known.insert(point).second) points.push_back(std::move(point));
  };
  if (settings_.method == Method::kBayes && points.size() < count) {
    for (Point& point : scattered(count - points.size(), points)) add(std::move(point));
  }
  while (points.size() < count) add(space_.random(random_));
  return points;
}

// A Latin hypercube of `count` points: each dimension is cut into `count` equal pieces, and each piece has
// one point. Of several random ones, takes that whose points are farthest from each other and from `from`.
std::vector<Point> Search::scattered(std::size_t count, const std::vector<Point>& from) {
  constexpr int kDraws = 50;
  std::vector<Point> chosen;
  double most = -1;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<Point> points(count, Point(space_.dimensions().size()));
    for (std::size_t i = 0; i < space_.dimensions().size(); ++i) {
      for (std::size_t piece = 0; piece < count; ++piece) {
        const double at = (static_cast<double>(piece) + random_.uniform()) / static_cast<double>(count);
        points[piece][i] = static_cast<std::size_t>(at * static_cast<double>(space_.dimensions()[i].size()));
      }
      for (std::size_t piece = count; piece-- > 1;)
        std::swap(points[piece][i], points[random_.next() % (piece + 1)][i]);
    }
    const double nearest = nearest_two(points, from);
    if (nearest <= most) continue;
    most = nearest;
    chosen = std::move(points);
  }
  return chosen;
}

// The smallest distance between two of the points, or between one of them and one of the others.
double Search::nearest_two(const std::vector<Point>& points, const std::vector<Point>& others) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Eigen::VectorXd at = space_.coordinates(points[i]);
    for (std::size_t j = 0; j < i; ++j)
      nearest = std::min(nearest, (at - space_.coordinates(points[j])).norm());
    for (const Point& other : others) nearest = std::min(nearest, (at - space_.coordinates(other)).norm());
  }
  return nearest;
}

// All points that may be tried. If these are too many: the neighbours of the best, and random points.
std::vector<Point> Search::candidates() {
  std::vector<Point> points;
  const auto add = [&](const Point& point) {
    if (settings_.noisy || !tried(point)) points.push_back(point);
  };
  if (space_.size() <= kMostCandidates) {
    for (std::size_t index = 0; index < space_.size(); ++index) add(space_.point(index));
    return points;
  }
  if (const auto found = best()) {
    const Point& centre = attempts_[*found].point;
    for (std::size_t i = 0; i < centre.size(); ++i) {
      for (std::size_t value = 0; value < space_.dimensions()[i].size(); ++value) {
        Point point = centre;
        point[i] = value;
        add(point);
      }
    }
  }
  while (points.size() < kMostCandidates) add(space_.random(random_));
  return points;
}

std::optional<Point> Search::untried() {
  const std::vector<Point> points = candidates();
  if (points.empty()) return std::nullopt;
  return points[static_cast<std::size_t>(random_.next() % points.size())];
}

std::optional<Point> Search::most_promising() {
  const auto measurements = measurements_of(space_, attempts_);
  if (!measurements) return untried();
  const GaussianProcess process = process_of(*measurements);
  const double best =
      settings_.noisy ? means(process, *measurements).minCoeff() : measurements->values.minCoeff();
  std::optional<Point> chosen;
  double most = -1;
  for (Point& point : candidates()) {
    const double gain = expected_improvement(process.at(space_.coordinates(point)), best);
    if (gain <= most) continue;
    most = gain;
    chosen = std::move(point);
  }
  return chosen;
}

std::optional<std::size_t> Search::best() const {
  const auto measurements = measurements_of(space_, attempts_);
  if (!measurements) return std::nullopt;
  const Eigen::VectorXd scores =
      settings_.noisy ? means(process_of(*measurements), *measurements) : measurements->values;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    if (!attempts_[i].value) continue;
    const auto row = static_cast<Eigen::Index>(i);
    if (!found || scores(row) < scores(static_cast<Eigen::Index>(*found))) found = i;
  }
  return found;
}

}  // namespace weir::tune
