#include "core/tune/space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostPoints = std::numeric_limits<std::int64_t>::max();

std::size_t product(const std::vector<std::size_t>& sizes) {
  std::size_t result = 1;
  for (const std::size_t size : sizes) {
    if (result > kMostPoints / size) return kMostPoints;
    result *= size;
  }
  return result;
}

}  // namespace

Dimension Dimension::quantities(const std::vector<double>& ascending) {
  WEIR_CHECK(!ascending.empty());
  WEIR_CHECK(std::is_sorted(ascending.begin(), ascending.end()));
  const bool ratios = ascending.front() > 0;
  const auto scaled = [&](double value) { return ratios ? std::log(value) : value; };
  const double first = scaled(ascending.front());
  const double length = scaled(ascending.back()) - first;
  Dimension dimension;
  dimension.size_ = ascending.size();
  for (const double value : ascending)
    dimension.places_.push_back(length > 0 ? (scaled(value) - first) / length : 0);
  return dimension;
}

Dimension Dimension::choices(std::size_t count) {
  WEIR_CHECK(count > 0);
  Dimension dimension;
  dimension.size_ = count;
  return dimension;
}

void Dimension::place(std::size_t value, Eigen::Ref<Eigen::VectorXd> coordinates) const {
  WEIR_CHECK(value < size_, value, size_);
  if (!places_.empty()) {
    coordinates(0) = places_[value];
  } else {
    coordinates.setZero();
    coordinates(static_cast<Eigen::Index>(value)) = std::sqrt(0.5);
  }
}

Space::Space(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  for (std::size_t i = 0; i < dimensions_.size(); ++i)
    owners_.insert(owners_.end(), dimensions_[i].width(), i);
}

std::size_t Space::size() const {
  std::vector<std::size_t> sizes;
  for (const Dimension& dimension : dimensions_) sizes.push_back(dimension.size());
  return product(sizes);
}

Point Space::point(std::size_t index) const {
  Point point(dimensions_.size());
  for (std::size_t i = dimensions_.size(); i-- > 0;) {
    point[i] = index % dimensions_[i].size();
    index /= dimensions_[i].size();
  }
  return point;
}

Point Space::random(Random& random) const {
  Point point;
  for (const Dimension& dimension : dimensions_)
    point.push_back(static_cast<std::size_t>(random.next() % dimension.size()));
  return point;
}

Eigen::VectorXd Space::coordinates(const Point& point) const {
  WEIR_CHECK(point.size() == dimensions_.size(), point.size(), dimensions_.size());
  Eigen::VectorXd all(static_cast<Eigen::Index>(owners_.size()));
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const auto width = static_cast<Eigen::Index>(dimensions_[i].width());
    dimensions_[i].place(point[i], all.segment(next, width));
    next += width;
  }
  return all;
}

std::vector<Point> Space::grid(std::size_t most) const {
  std::vector<std::size_t> levels(dimensions_.size(), 1);
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (levels[i] == dimensions_[i].size()) continue;
      ++levels[i];
      if (product(levels) <= most) {
        grown = true;
      } else {
        --levels[i];
      }
    }
  }
  std::vector<Dimension> coarse;
  for (const std::size_t level : levels) coarse.push_back(Dimension::choices(level));
  const Space coarser(coarse);
  std::vector<Point> points;
  for (std::size_t index = 0; index < coarser.size(); ++index) {
    Point point = coarser.point(index);
    for (std::size_t i = 0; i < point.size(); ++i) {
      const std::size_t last = dimensions_[i].size() - 1;
      // A dimension with one level has its middle value; others go from end to end.
      point[i] = levels[i] == 1 ? last / 2 : (point[i] * last + (levels[i] - 1) / 2) / (levels[i] - 1);
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace weir::tune
