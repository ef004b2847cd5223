#include "core/simulate/conditions.h"

#include "core/simulate/engines/fluid_engine.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

constexpr Duration kSecond{1'000'000'000};
constexpr auto kFor = [](std::int64_t seconds) { return kSecond * seconds; };
constexpr auto kAt = [](std::int64_t seconds) { return Instant() + kSecond * seconds; };

Cluster three() {
  return cluster_of(R"({"name": "three", "groups": [
    {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "2GB/s"}]}]})");
}

LinkId link_named(const Cluster& cluster, const std::string& name) {
  for (std::size_t i = 0; i < cluster.links().size(); ++i) {
    if (cluster.links()[i].name == name) return LinkId(i);
  }
  FAIL("there is no link " << name);
  return {};
}

TEST_CASE("a spell holds from its beginning for its length, and may recur") {
  const Spell once{kFor(2), kFor(3), {}};
  for (const auto& [second, holds] :
       std::map<int, bool>{{1, false}, {2, true}, {4, true}, {5, false}, {20, false}})
    CHECK(once.holds(kAt(second)) == holds);
  CHECK(once.next_change(kAt(0)) == kAt(2));
  CHECK(once.next_change(kAt(2)) == kAt(5));
  CHECK_FALSE(once.next_change(kAt(5)));

  const Spell again{kFor(2), kFor(3), kFor(10)};
  for (const auto& [second, holds] :
       std::map<int, bool>{{1, false}, {14, true}, {15, false}, {22, true}, {25, false}})
    CHECK(again.holds(kAt(second)) == holds);
  CHECK(again.next_change(kAt(5)) == kAt(12));
  CHECK(again.next_change(kAt(12)) == kAt(15));

  const Spell good{kFor(2), {}, {}};
  CHECK(good.holds(kAt(1000)));
  CHECK_FALSE(good.next_change(kAt(2)));
}

TEST_CASE("links lose what conditions take") {
  const Cluster cluster = three();
  Conditions conditions;
  conditions.links = {{"gpu[1].*.out", 0.5, {kFor(1), kFor(1), {}}}, {"gpu[*].nic0.out", 0.8, {}}};
  conditions.background = {{"gpu[0]", "*", BytesPerSecond(100'000'000), {kFor(4), {}, {}}}};
  conditions.incast = Incast{2, 0.25};
  CHECK(faults(conditions, cluster).empty());
  const Circumstances met(conditions, cluster);
  const LinkId out0 = link_named(cluster, "gpu[0].nic0.out");
  const LinkId out1 = link_named(cluster, "gpu[1].nic0.out");
  const LinkId in = link_named(cluster, "cpu[0].nic0.in");
  CHECK(met.factor(out1, 0, kAt(0)) == Approx(0.8));
  CHECK(met.factor(out1, 0, kAt(1)) == Approx(0.4));
  CHECK(met.factor(out1, 0, kAt(2)) == Approx(0.8));
  CHECK(met.factor(out0, 0, kAt(4)) == Approx(0.6));  // loses 0.1 GB/s to each of two machines
  CHECK(met.factor(in, 2, kAt(0)) == Approx(1.0));
  CHECK(met.factor(in, 4, kAt(0)) == Approx(0.5));
  CHECK(met.factor(in, 4, kAt(5)) == Approx(0.95 * 0.5));
  CHECK(met.factor(in, 40, kAt(0)) == Approx(0.1));
  CHECK(met.varies(in));
  CHECK_FALSE(Circumstances({}, cluster).varies(in));
  CHECK(met.next_change(kAt(2)) == kAt(4));
}

TEST_CASE("machines that stop take longer by the time of their stops") {
  const Cluster cluster = three();
  Conditions conditions;
  conditions.stops = {{"gpu[1]", {kFor(2), kFor(3), kFor(10)}}};
  const Circumstances met(conditions, cluster);
  CHECK(met.stretched(MachineId(0), kAt(1), kFor(4)) == kFor(4));
  CHECK(met.stretched(MachineId(1), kAt(5), kFor(7)) == kFor(7));
  CHECK(met.stretched(MachineId(1), kAt(1), kFor(4)) == kFor(7));
  CHECK(met.stretched(MachineId(1), kAt(3), kFor(1)) == kFor(3));
  CHECK(met.stretched(MachineId(1), kAt(0), kFor(15)) == kFor(21));
  CHECK(met.factor(link_named(cluster, "gpu[1].nic0.in"), 0, kAt(3)) == 0.0);
  CHECK(met.failures().empty());
  conditions.stops = {{"gpu[1]", {kFor(0), kFor(1), kFor(2)}}, {"gpu[1]", {kFor(1), kFor(1), kFor(2)}}};
  CHECK(Circumstances(conditions, cluster).stretched(MachineId(1), kAt(0), kFor(1)) > kLongestRun);
  conditions.stops.push_back({"cpu[*]", {kFor(7), {}, {}}});
  conditions.stops.push_back({"gpu[1]", {kFor(3), {}, {}}});
  const Circumstances failing(conditions, cluster);
  REQUIRE(failing.failures().size() == 2);
  CHECK(failing.failures()[0].first == MachineId(1));
  CHECK(failing.failures()[1].first == MachineId(2));
}

TEST_CASE("impossible conditions are reported with their paths") {
  const Cluster cluster = three();
  Conditions conditions;
  conditions.stragglers = {{"gpu[7]", 2.0, 0.0}, {"cpu[*]", 2.0, 0.0}, {"*", 2.0, 0.0}};
  conditions.links = {{"gpu[0].nic0.*", 1.0, {}}, {"nowhere", 0.5, {}}, {"cpu[0].*", 0.0, {}}};
  conditions.stops = {{"tpu[0]", {}}};
  conditions.background = {{"gpu[0]", "gpu[1]", BytesPerSecond(1'000'000'000), {}},
                           {"gpu[0]", "gpu[0]", BytesPerSecond(1'000), {}},
                           {"gpu[*]", "gpu[*]", BytesPerSecond(1'000), {}}};
  std::vector<std::string> paths;
  for (const auto& [path, what] : faults(conditions, cluster)) paths.push_back(path);
  CHECK(paths == std::vector<std::string>{"stragglers[0].machines", "stragglers[1].machines",
                                          "stops[0].machines", "links[1].links", "links[2].factor",
                                          "background[1].into", "background[0].rate"});
}

TEST_CASE("background traffic is refused only if it takes all of a link at one time") {
  const Cluster cluster = three();
  const auto full = [&](const Spell& first, const Spell& second) {
    Conditions conditions;
    const BytesPerSecond most(600'000'000);
    conditions.background = {{"gpu[0]", "gpu[1]", most, first}, {"gpu[0]", "cpu[0]", most, second}};
    return !faults(conditions, cluster).empty();
  };
  const Spell good;
  const Spell once{kFor(2), kFor(3), {}};
  CHECK(full(good, good));
  CHECK(full(once, good));
  CHECK(full({kFor(4), {}, {}}, once));
  CHECK_FALSE(full({kFor(5), {}, {}}, once));
  CHECK_FALSE(full(once, {kFor(1), kFor(1), {}}));
  const Spell again{kFor(1), kFor(2), kFor(6)};
  CHECK(full(again, {kFor(8), kFor(3), {}}));        // both at 8
  CHECK_FALSE(full(again, {kFor(9), kFor(4), {}}));  // never both
  CHECK(full({kFor(12), kFor(2), {}}, again));       // both at 13
  CHECK(full(good, again));
  CHECK_FALSE(full(again, {kFor(3), kFor(4), kFor(6)}));
  CHECK(full(again, {kFor(3), kFor(5), kFor(6)}));         // both at 7
  CHECK(full(again, {kFor(3), kFor(2), kFor(8)}));         // both at 13 and 19
  CHECK_FALSE(full(again, {kFor(3), kFor(4), kFor(12)}));  // never both
}

TEST_CASE("a flow over a scaled link moves at the scaled rate") {
  FluidEngine engine({1000.0, 400.0});
  const Paths paths = {{{LinkId(0), 1}}, {{LinkId(0), 1}, {LinkId(1), 1}}};
  const Binding binding({1000.0, 400.0}, paths, {true, false});
  REQUIRE(engine.set_paths(paths, binding));
  std::vector<std::pair<std::uint32_t, double>> ends;
  const auto run = engine.run(
      [&] {
        engine.start_flow(1, 0, Bytes(1500));
        engine.start_flow(2, 1, Bytes(800));
        engine.start_timer(9, Duration(1'000'000'000));
        engine.start_timer(8, Duration(2'000'000'000));
        engine.start_timer(7, Duration(3'000'000'000));
      },
      [&](std::span<const std::uint32_t> ended) {
        for (const std::uint32_t id : ended) {
          ends.emplace_back(id, engine.seconds());
          if (id == 9) engine.scale_link(LinkId(0), 0.5);  // rates of 600 and 400 become 250 and 250
          if (id == 8) engine.scale_link(LinkId(0), 0.0);
          if (id == 7) engine.scale_link(LinkId(0), 1.0);
        }
      });
  REQUIRE(run);
  REQUIRE(ends.size() == 5);
  CHECK(ends[3].first == 2);
  CHECK(ends[3].second == Approx(3.0 + 150.0 / 400.0));
  CHECK(ends[4].first == 1);
  CHECK(ends[4].second == Approx(3.0 + 150.0 / 400.0 + (650.0 - 600.0 * 150.0 / 400.0) / 1000.0));
}

}  // namespace
}  // namespace weir
