// Reports and timelines of a small plan. Its record is written by hand.
#include "core/report/report.h"

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/report/service.h"
#include "core/report/timeline.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

/// Two machines with one GPU each. Compute ops take 60 ns, or 80 ns on the second machine's slower GPU. The
/// first sends its 1000 bytes in two messages over a NIC of 10 bytes per nanosecond.
struct Scene {
  Scene()
      : cluster(
            cluster_of(R"({"name": "lab", "groups": [{"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}],
                                     "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})")) {
    trace.batch = 4;
    trace.layers = {{"dense", 20_ns, 40_ns, {{"w", 250, Dtype::kF32}}}};
    PlanBuilder builder("by hand", 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const BufferId gradient =
          builder.add({MachineId(i), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, 1, 1000_B});
      const BufferId staging =
          builder.add({MachineId(i), Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, 1000_B});
      const std::int64_t slow = i == 0 ? 1 : 2;
      Op op{.machine = MachineId(i), .kind = OpKind::kBackward, .layer = 0, .duration = 40_ns};
      op.into = {gradient, 0, 0_B, 1000_B};
      if (slow == 2) op.duration = 50_ns;
      builder.add(op);
      for (int half = 0; half < 2; ++half) {
        Op message{.machine = MachineId(i), .kind = i == 0 ? OpKind::kSend : OpKind::kReceive, .layer = 0};
        message.peer = MachineId(1 - i);
        message.message = i == 0 ? builder.add_message() : MessageId(static_cast<std::size_t>(half));
        (i == 0 ? message.from : message.into) = Slice{staging, 0, 500_B * half, 500_B};
        builder.add(message);
      }
      Op forward{.machine = MachineId(i),
                 .kind = OpKind::kForward,
                 .layer = 0,
                 .duration = slow == 1 ? 20_ns : 30_ns};
      forward.from = {gradient, 0, 0_B, 1000_B};
      builder.add(forward);
    }
    plan = std::make_unique<Plan>(std::move(builder).build());
  }

  /// Three iterations of 250, 200 and 300 ns; the second machine ends last. In each iteration, messages are
  /// under way from 50 to 110 ns and from 100 to 150 ns.
  Record record() const {
    Record record(plan->ops().size(), 3);
    Instant begin;
    for (int i = 0; i < 3; ++i) {
      const Instant end = begin + std::array{250_ns, 200_ns, 300_ns}[static_cast<std::size_t>(i)];
      int sends = 0;
      for (const Op& op : plan->ops()) {
        OpRecord& times = record.of(op.id, i);
        if (op.kind == OpKind::kBackward) times = {begin, begin, begin + op.duration};
        if (op.kind == OpKind::kForward) {
          const Instant done = end + Duration(op.machine.index() == 0 ? -5 : 0);
          const Instant started = done + op.duration * -1;
          times = {started, started, done};
        }
        if (op.kind == OpKind::kSend) {
          const bool first = sends++ == 0;
          times = {begin, begin + (first ? 50_ns : 100_ns), begin + (first ? 110_ns : 150_ns)};
        }
        if (op.kind == OpKind::kReceive)
          times = {begin, begin, end};  // waits for its message; does not count
      }
      begin = end;
    }
    return record;
  }

  Cluster cluster;
  Trace trace;
  std::unique_ptr<Plan> plan;
};

TEST_CASE("an iteration lasts from the last forward of all machines to the next, and warm-up is left out") {
  const Scene scene;
  const Workload workload(scene.trace);
  CHECK(report(*scene.plan, scene.cluster, workload, scene.record(), 0).iteration == 250_ns);
  CHECK(report(*scene.plan, scene.cluster, workload, scene.record(), 1).iteration == 250_ns);
  CHECK(report(*scene.plan, scene.cluster, workload, scene.record(), 2).iteration == 300_ns);
}

TEST_CASE(
    "exposed time is the slowest machine's time without compute, and goodput counts message time once") {
  const Scene scene;
  const Report found = report(*scene.plan, scene.cluster, Workload(scene.trace), scene.record(), 1);
  CHECK(found.compute == 80_ns);
  CHECK(found.exposed == 170_ns);
  CHECK(found.communication == 100_ns);  // from 50 to 150
  CHECK(found.goodput == 10_GBps);
  CHECK(found.samples_per_second == Approx(8 / 250e-9));
}

TEST_CASE("compute is measured on the machine that computes longest, within the measured iterations") {
  const Scene scene;
  Record record = scene.record();
  for (const Op& op : scene.plan->ops()) {
    OpRecord& times = record.of(op.id, 2);
    // The second machine takes 200 ns for its last backward instead of 50.
    if (op.kind == OpKind::kBackward && op.machine.index() == 1) times.completed = times.started + 200_ns;
    // The first began its last backward 10 ns before the measured iteration.
    if (op.kind == OpKind::kBackward && op.machine.index() == 0) times.started = times.started + 10_ns * -1;
  }
  const Report found = report(*scene.plan, scene.cluster, Workload(scene.trace), record, 2);
  CHECK(found.iteration == 300_ns);
  CHECK(found.compute == 230_ns);
  CHECK(found.exposed == 70_ns);
}

TEST_CASE("only the busiest of links that differ only in their numbers is shown, group by group") {
  const Cluster cluster = cluster_of(R"({"name": "lab", "groups": [
    {"name": "v100", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]},
    {"name": "v200", "count": 2, "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": "10GB/s", "count": 2}]}]})");
  std::vector<LinkLoad> links;
  for (std::size_t i = cluster.links().size(); i-- > 0;) links.push_back({LinkId(i), 1000_B, 0.5});
  std::vector<std::string> names;
  for (const LinkLoad& load : busiest_of_each_kind(links, cluster))
    names.push_back(cluster.link(load.link).name);
  CHECK(names == std::vector<std::string>{"v200[1].nic1.in", "v200[1].nic1.out", "v100[1].nic0.in",
                                          "v100[1].nic0.out"});
}

TEST_CASE("links are reported by use, and memory by machine") {
  const Scene scene;
  const Report found = report(*scene.plan, scene.cluster, Workload(scene.trace), scene.record(), 1);
  REQUIRE(found.links.size() == 2);
  CHECK(scene.cluster.link(found.links[0].link).name == "gpu[0].nic0.out");
  CHECK(found.links[0].bytes == 1000_B);
  CHECK(found.links[0].use == Approx(0.4));
  CHECK(found.host_memory == std::vector<Bytes>{1000_B, 1000_B});
}

nlohmann::json drawn(const Scene& scene, const Record& record, int warm_up, const Model& model = {}) {
  const std::string text =
      timeline(*scene.plan, scene.cluster, Workload(scene.trace), record, warm_up, model);
  auto json = nlohmann::json::parse(text, nullptr, false);
  REQUIRE(json.is_object());
  return json;
}

std::vector<nlohmann::json> events(const nlohmann::json& drawn, const std::string& phase) {
  std::vector<nlohmann::json> found;
  for (const auto& event : drawn["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST_CASE("a timeline draws every op once, messages from their turn in the channel on") {
  const Scene scene;
  const nlohmann::json json = drawn(scene, scene.record(), 2);
  std::map<std::string, int> tracks;
  for (const auto& event : events(json, "M")) {
    if (event["name"] == "thread_name") ++tracks[event["args"]["name"].get<std::string>()];
  }
  CHECK(tracks == std::map<std::string, int>{{"compute", 2}, {"nic0 to gpu[1]", 1}});
  const auto ops = events(json, "X");
  REQUIRE(ops.size() == 6);  // two backward, two forward, two sends
  CHECK(ops[0]["name"] == "backward dense");
  CHECK(ops[0]["ts"] == 0.0);
  CHECK(ops[0]["dur"] == Approx(0.04));
  CHECK(ops[0].count("args") == 0);
  // Both start within the window, but the second waits for the first.
  CHECK(ops[2]["name"] == "dense");
  CHECK(ops[2]["ts"] == Approx(0.05));
  CHECK(ops[2]["dur"] == Approx(0.06));
  CHECK(ops[3]["ts"] == Approx(0.11));
  CHECK(ops[3]["dur"] == Approx(0.04));
  CHECK(json["otherData"]["layers"] == nlohmann::json{"dense"});
}

TEST_CASE("events of later iterations name their iteration, and warm-up is not drawn") {
  const Scene scene;
  const auto ops = events(drawn(scene, scene.record(), 1), "X");
  REQUIRE(ops.size() == 12);
  int later = 0;
  for (const auto& op : ops) {
    if (op.count("args") == 0) continue;
    CHECK(op["args"]["iteration"] == 1);
    ++later;
  }
  CHECK(later == 6);
}

TEST_CASE("short ops of a layer that follow each other are drawn as one event with their number") {
  const Scene scene;
  Record record = scene.record();
  for (const Op& op : scene.plan->ops()) {
    // 300 ns become 30 ms; the messages remain short.
    if (op.kind == OpKind::kForward) record.of(op.id, 2).completed = Instant(30'000'000);
  }
  std::vector<nlohmann::json> sends;
  for (const auto& event : events(drawn(scene, record, 2), "X")) {
    if (event["name"] == "dense") sends.push_back(event);
  }
  REQUIRE(sends.size() == 1);
  CHECK(sends[0]["args"]["ops"] == 2);
  CHECK(sends[0]["args"]["busy_us"] == Approx(0.1));
}

TEST_CASE("the use of a link is the sum of its flows' mean rates, each over its own time") {
  const Scene scene;
  const WorkTable works(*scene.plan, scene.cluster);
  const LinkId out = scene.cluster.machine(MachineId(0)).nics[0].out;
  const LinkId back = scene.cluster.machine(MachineId(0)).nics[0].in;
  Record record(scene.plan->ops().size(), 1);
  record.iterations = {scene.record().iterations.front()};
  const std::vector<Server> served = servers(*scene.plan, works, record);
  const auto check = [&](Duration overhead, const std::vector<std::pair<Instant, double>>& expected) {
    const auto uses = link_use(served, scene.cluster, works, overhead);
    CHECK(uses[back.index()].empty());
    const std::vector<LinkStep>& steps = uses[out.index()];
    REQUIRE(steps.size() == expected.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CHECK(steps[i].from == expected[i].first);
      CHECK(steps[i].use == Approx(expected[i].second).margin(0));
    }
  };
  // 500 bytes in 60 ns, then in 40 ns; the link passes 10 bytes per nanosecond.
  check(0_ns, {{Instant(50), 50.0 / 60}, {Instant(110), 50.0 / 40}, {Instant(150), 0.0}});
  check(10_ns, {{Instant(60), 1.0}, {Instant(110), 0.0}, {Instant(120), 50.0 / 30}, {Instant(150), 0.0}});
}

TEST_CASE("a timeline counts the use of links in percent") {
  const Scene scene;
  std::map<std::string, std::vector<std::pair<double, double>>> counters;
  for (const auto& event : events(drawn(scene, scene.record(), 2), "C")) {
    counters[fmt::format("{} {}", event["pid"].get<int>(), event["name"].get<std::string>())].push_back(
        {event["ts"].get<double>(), event["args"]["%"].get<double>()});
  }
  const std::vector<std::pair<double, double>> expected = {{0.05, 83}, {0.11, 125}, {0.15, 0}};
  CHECK(counters.size() == 2);
  CHECK(counters["1 nic0.out"] == expected);
  CHECK(counters["2 nic0.in"] == expected);
}

}  // namespace
}  // namespace weir
