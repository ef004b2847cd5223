#include "core/simulate/physics.h"

#include "core/hardware/work.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// Two messages of 1 MB each from machine 0 to machine 1, over NICs of 1 GB/s: 1 ms each.
struct TwoMessages {
  TwoMessages() : cluster(shipped_topology("toy-two-machines")), plan(make()), works(plan, cluster) {
    for (const Op& op : plan.ops()) {
      if (op.kind == OpKind::kSend) sends.push_back(op.id);
    }
  }

  static Plan make() {
    PlanBuilder builder("two messages", 2);
    std::vector<BufferId> buffers;
    for (std::size_t m = 0; m < 2; ++m) {
      buffers.push_back(builder.add({MachineId(m), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, 2_MB}));
    }
    for (int i = 0; i < 2; ++i) {
      Op send;
      send.machine = MachineId(0);
      send.kind = OpKind::kSend;
      send.peer = MachineId(1);
      send.message = builder.add_message();
      send.from = {buffers[0], 0, 1_MB * i, 1_MB};
      Op receive = send;
      receive.machine = MachineId(1);
      receive.kind = OpKind::kReceive;
      receive.peer = MachineId(0);
      receive.from = {};
      receive.into = {buffers[1], 0, 1_MB * i, 1_MB};
      builder.add(send);
      builder.add(receive);
    }
    return std::move(builder).build();
  }

  Cluster cluster;
  Plan plan;
  WorkTable works;
  std::vector<OpId> sends;
};

// Records when these messages start and end.
class Watch {
 public:
  explicit Watch(const TwoMessages& two)
      : two_(two), physics_(two.cluster, reached_rates(two.plan, two.cluster)) {}

  void started(std::size_t message, double now) {
    physics_.flow_started(two_.sends[message].value(), path(message), now);
  }
  void ended(std::size_t message, double now) {
    physics_.flow_ended(two_.sends[message].value(), path(message), 1_MB, now);
    carried_.add(number(message), 1_MB);
    now_ = now;
  }
  void scaled(double factor, double now) {
    for (std::size_t i = 0; i < two_.cluster.links().size(); ++i)
      physics_.link_scaled(LinkId(i), factor, now);
  }

  // The error after the plan has run between `least` and `most` times, or "none".
  std::string complaint(double least = 1, double most = 1) const {
    const Result<void> verdict = physics_.verdict(now_);
    if (!verdict) return verdict.error().text;
    const Result<void> moved =
        carried_.verdict(link_loads(two_.plan, two_.cluster, two_.works), least, most, two_.cluster);
    return moved ? "none" : moved.error().text;
  }

 private:
  int number(std::size_t message) const { return two_.works.of(two_.sends[message]).path; }
  PathView path(std::size_t message) const {
    return two_.works.paths()[static_cast<std::size_t>(number(message))];
  }

  const TwoMessages& two_;
  Physics physics_;
  Carried carried_{two_.works.paths()};
  double now_ = 0.0;
};

TEST_CASE("flows at their link's rate obey physics") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.started(1, 0.0);
  watch.ended(0, 0.002);
  watch.ended(1, 0.002);
  CHECK(watch.complaint() == "none");
}

TEST_CASE("a flow faster than its link is caught") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.ended(0, 0.00099);
  watch.started(1, 0.001);
  watch.ended(1, 0.002);
  CHECK(watch.complaint().find("faster than its rate allows") != std::string::npos);
}

TEST_CASE("flows that together are faster than their link are caught, though each alone is not") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.started(1, 0.0);
  watch.ended(0, 0.001);
  watch.ended(1, 0.0015);
  CHECK(watch.complaint().find("s of use") != std::string::npos);
}

TEST_CASE("idle time between flows does not make up for haste") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.ended(0, 0.001);
  watch.started(1, 5.0);
  watch.ended(1, 5.0009);
  CHECK(watch.complaint() != "none");
}

TEST_CASE("flows over a scaled link must not exceed its scaled rate") {
  for (const auto& [end, fits] : {std::pair(0.003, true), std::pair(0.0025, false)}) {
    const TwoMessages two;
    Watch watch(two);
    watch.started(0, 0.0);
    watch.started(1, 0.0);
    watch.scaled(0.5, 0.001);
    watch.ended(0, end);
    watch.ended(1, end);
    CHECK((watch.complaint() == "none") == fits);
  }
}

TEST_CASE("bytes that never moved are missed") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.ended(0, 0.001);
  CHECK(watch.complaint().find("lost bytes") != std::string::npos);
}

TEST_CASE("flows that are under way when a run ends count for the time in which links were in use") {
  const TwoMessages two;
  Watch watch(two);
  watch.started(0, 0.0);
  watch.started(1, 0.0005);
  watch.ended(0, 0.0015);
  CHECK(watch.complaint(0, 2) == "none");
  CHECK(watch.complaint(1, 2).find("lost bytes") != std::string::npos);
}

TEST_CASE("late in a run, where doubles are coarser than 10 ps, physics allows for it") {
  const TwoMessages two;
  Watch watch(two);
  const double late = 3e6;
  watch.started(0, late);
  watch.ended(0, late + 0.001 - 2e-9 * 0.5);
  CHECK(watch.complaint().find("broke physics") == std::string::npos);
}

}  // namespace
}  // namespace weir
