// Reports and timelines of a small plan whose record is written by hand.
#include "core/fluid/report.h"

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/fluid/timeline.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

/// Two machines of one GPU. Both compute 60 ns, on the second's slower GPU 80 ns; the first sends its 1000
/// bytes in two messages, which pass a NIC of 10 bytes a nanosecond.
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
        (i == 0 ? message.from : message.into) = {staging, 0, 500_B * half, 500_B};
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

  /// Three iterations of 250, 200 and 300 ns; the second machine ends last. Messages are under way from 50 to
  /// 110 and from 100 to 150 after the beginning of each.
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
          times = {begin, begin, end};  // waits for its message; counts for nothing
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
    "exposed is what the slowest machine does not compute, and goodput counts the time of messages once") {
  const Scene scene;
  const Report found = report(*scene.plan, scene.cluster, Workload(scene.trace), scene.record(), 1);
  CHECK(found.compute == 80_ns);
  CHECK(found.exposed == 170_ns);
  CHECK(found.communication == 100_ns);  // from 50 to 150
  CHECK(found.goodput == 10_GBps);
  CHECK(found.samples_per_second == Approx(8 / 250e-9));
}

TEST_CASE(
    "compute is taken from the run, of the machine that computes longest, and within what is measured") {
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

TEST_CASE("of links that differ only in their numbers the busiest is shown, group by group") {
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

TEST_CASE("a timeline draws every op once, messages that overlap on two lanes of their sender") {
  const Scene scene;
  const std::string drawn = timeline(*scene.plan, scene.cluster, Workload(scene.trace), scene.record(), 2);
  const auto json = nlohmann::json::parse(drawn, nullptr, false);
  REQUIRE(json.is_object());
  std::map<std::string, int> tracks;
  std::vector<nlohmann::json> events;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X") events.push_back(event);
    if (event["name"] == "thread_name") ++tracks[event["args"]["name"].get<std::string>()];
  }
  CHECK(tracks == std::map<std::string, int>{{"compute", 2}, {"nic0 out", 1}, {"nic0 out (2)", 1}});
  CHECK(events.size() == 6);  // two backward, two forward, two sends
  CHECK(events[0]["name"] == "backward dense");
  CHECK(events[0]["ts"] == 0.0);
  CHECK(events[0]["dur"] == Approx(0.04));
  for (const auto& event : events) {
    if (event["cat"] != "send") continue;
    CHECK(event["pid"] == 0);
    CHECK(event["args"]["bytes"] == 500);
    CHECK(event["args"]["to"] == "gpu[1]");
  }
}

}  // namespace
}  // namespace weir
