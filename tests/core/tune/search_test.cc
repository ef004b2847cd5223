#include "core/tune/search.h"

#include <cmath>
#include <functional>
#include <set>

#include "tests/catch.h"

namespace weir::tune {
namespace {

using Function = std::function<std::optional<double>(const Point&)>;

// Runs the search to its end.
Search searched(const Space& space, const SearchSettings& settings, const Function& function) {
  Search search(space, settings);
  for (auto points = search.next(); !points.empty(); points = search.next()) {
    for (const Point& point : points) search.add_attempt(point, function(point));
  }
  return search;
}

SearchSettings with(Method method, std::size_t trials, std::uint64_t seed) {
  SearchSettings settings;
  settings.method = method;
  settings.trials = trials;
  settings.seed = seed;
  return settings;
}

Space square(std::size_t size) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < size; ++i) numbers.push_back(std::pow(1.5, static_cast<double>(i)));
  return Space({Dimension::quantities(numbers), Dimension::quantities(numbers)});
}

// A bowl with its smallest value, 1, at (6, 13). It is longer along one diagonal.
double bowl(const Point& point) {
  const double x = (static_cast<double>(point[0]) - 6) / 20;
  const double y = (static_cast<double>(point[1]) - 13) / 20;
  return 1 + 4 * (x - y) * (x - y) + (x + y) * (x + y);
}

double best_value(const Search& search) { return *search.attempts()[*search.best()].value; }

TEST_CASE("quantities are compared by their ratio, or by their difference if one is 0") {
  const Space space({Dimension::quantities({1, 10, 100}), Dimension::quantities({0, 1, 4})});
  CHECK(space.coordinates({1, 1})(0) == Approx(0.5));
  CHECK(space.coordinates({1, 1})(1) == Approx(0.25));
  CHECK(space.coordinates({2, 2}) == Eigen::Vector2d(1, 1));
}

TEST_CASE("any two choices have distance 1") {
  const Space space({Dimension::choices(3)});
  CHECK((space.coordinates({0}) - space.coordinates({1})).norm() == Approx(1));
  CHECK((space.coordinates({0}) - space.coordinates({2})).norm() == Approx(1));
  CHECK(space.owners() == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("grids are even, contain both ends, and have at most the given number of points") {
  const Space space({Dimension::quantities({1, 2, 3, 4, 5, 6, 7, 8, 9}), Dimension::choices(2)});
  const std::vector<Point> grid = space.grid(11);
  CHECK(grid.size() == 10);
  std::set<std::size_t> values;
  for (const Point& point : grid) values.insert(point[0]);
  CHECK(values == std::set<std::size_t>{0, 2, 4, 6, 8});
  CHECK(space.grid(1000).size() == 18);
  CHECK(space.grid(1) == std::vector<Point>{{4, 0}});
}

TEST_CASE("a grid of all points finds the smallest value") {
  const Search search = searched(square(20), with(Method::kGrid, 400, 1), bowl);
  CHECK(search.attempts().size() == 400);
  CHECK(search.attempts()[*search.best()].point == Point{6, 13});
}

TEST_CASE("each random point comes only once") {
  const Search search = searched(square(4), with(Method::kRandom, 100, 3), bowl);
  std::set<Point> points;
  for (const Attempt& attempt : search.attempts()) points.insert(attempt.point);
  CHECK(points.size() == 16);
  CHECK(search.attempts().size() == 16);
}

TEST_CASE("the lowest point of a bowl is found within 2 % in 15 of 400 points, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const Search search = searched(square(20), with(Method::kBayes, 15, seed), bowl);
    CHECK(search.attempts().size() == 15);
    CHECK(best_value(search) <= 1.02);
  }
}

TEST_CASE("random search needs more points") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    found += best_value(searched(square(20), with(Method::kRandom, 15, seed), bowl)) <= 1.02 ? 1 : 0;
  CHECK(found < 15);
}

TEST_CASE("the best choice is found even if each choice has a different best quantity") {
  std::vector<double> numbers;
  for (int i = 1; i <= 20; ++i) numbers.push_back(i);
  const Space space({Dimension::choices(4), Dimension::quantities(numbers)});
  const Function function = [](const Point& point) {
    const double off = (static_cast<double>(point[1]) - 4.0 * static_cast<double>(point[0])) / 20;
    return (point[0] == 2 ? 1.0 : 1.5) + off * off;
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    const Search search = searched(space, with(Method::kBayes, 20, seed), function);
    CHECK(best_value(search) <= 1.02);
  }
}

TEST_CASE("a search avoids points reported as impossible") {
  const Function half = [](const Point& point) {
    return point[0] < 5 ? std::nullopt : std::optional(bowl(point));
  };
  const Search search = searched(square(20), with(Method::kBayes, 20, 1), half);
  CHECK(best_value(search) <= 1.02);
  const Search none =
      searched(square(5), with(Method::kBayes, 9, 1), [](const Point&) { return std::nullopt; });
  CHECK(none.attempts().size() == 9);
  CHECK(!none.best());
}

TEST_CASE("with noise, the true value of the chosen point is near the best") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    Random random(100 + seed);
    SearchSettings settings = with(Method::kBayes, 30, seed);
    settings.noisy = true;
    const Search search = searched(
        square(20), settings, [&](const Point& point) { return bowl(point) * (1 + 0.03 * random.normal()); });
    CHECK(bowl(search.attempts()[*search.best()].point) <= 1.06);
  }
}

TEST_CASE("the same seed gives the same search, which starts at the given first point") {
  SearchSettings settings = with(Method::kBayes, 12, 5);
  settings.first = Point{3, 3};
  const auto points = [&] {
    const Search search = searched(square(20), settings, bowl);
    std::vector<Point> all;
    for (const Attempt& attempt : search.attempts()) all.push_back(attempt.point);
    return all;
  };
  const std::vector<Point> once = points();
  CHECK(once == points());
  CHECK(once.front() == Point{3, 3});
  settings.seed = 6;
  CHECK(once != points());
}

TEST_CASE("a search ends when all points have been tried") {
  const Search search = searched(square(3), with(Method::kBayes, 50, 1), bowl);
  CHECK(search.attempts().size() == 9);
}

TEST_CASE("spaces too large to scan completely are searched too") {
  std::vector<double> numbers;
  for (int i = 1; i <= 40; ++i) numbers.push_back(i);
  const Space space(std::vector(4, Dimension::quantities(numbers)));
  CHECK(space.size() == 2'560'000);
  const Search search = searched(space, with(Method::kBayes, 30, 1), [](const Point& point) {
    double sum = 1;
    for (const std::size_t value : point) sum += std::pow((static_cast<double>(value) - 20) / 40, 2);
    return sum;
  });
  CHECK(best_value(search) < 1.1);
}

}  // namespace
}  // namespace weir::tune
