#include "core/fluid/physics.h"

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

std::string complaint(const Result<void>& verdict) { return verdict ? "none" : verdict.error().text; }

TEST_CASE("flows at their link's rate obey physics") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  physics.flow_started(two.sends[0], 0.0);
  physics.flow_started(two.sends[1], 0.0);
  physics.flow_ended(two.sends[0], 0.002);
  physics.flow_ended(two.sends[1], 0.002);
  CHECK(complaint(physics.verdict(1)) == "none");
}

TEST_CASE("a flow faster than its link is caught") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  physics.flow_started(two.sends[0], 0.0);
  physics.flow_ended(two.sends[0], 0.00099);
  physics.flow_started(two.sends[1], 0.001);
  physics.flow_ended(two.sends[1], 0.002);
  CHECK(complaint(physics.verdict(1)).find("faster than its rate allows") != std::string::npos);
}

TEST_CASE("flows that together are faster than their link are caught, though each alone is not") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  physics.flow_started(two.sends[0], 0.0);
  physics.flow_started(two.sends[1], 0.0);
  physics.flow_ended(two.sends[0], 0.001);
  physics.flow_ended(two.sends[1], 0.0015);
  CHECK(complaint(physics.verdict(1)).find("s of use") != std::string::npos);
}

TEST_CASE("idle time between flows does not make up for haste") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  physics.flow_started(two.sends[0], 0.0);
  physics.flow_ended(two.sends[0], 0.001);
  physics.flow_started(two.sends[1], 5.0);
  physics.flow_ended(two.sends[1], 5.0009);
  CHECK(complaint(physics.verdict(1)) != "none");
}

TEST_CASE("flows over a link with a part of its rate are held to that") {
  for (const auto& [end, fits] : {std::pair(0.003, true), std::pair(0.0025, false)}) {
    const TwoMessages two;
    Physics physics(two.plan, two.cluster, two.works);
    physics.flow_started(two.sends[0], 0.0);
    physics.flow_started(two.sends[1], 0.0);
    for (std::size_t i = 0; i < two.cluster.links().size(); ++i) physics.link_scaled(LinkId(i), 0.5, 0.001);
    physics.flow_ended(two.sends[0], end);
    physics.flow_ended(two.sends[1], end);
    CHECK((complaint(physics.verdict(1)) == "none") == fits);
  }
}

TEST_CASE("bytes that never moved are missed") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  physics.flow_started(two.sends[0], 0.0);
  physics.flow_ended(two.sends[0], 0.001);
  CHECK(complaint(physics.verdict(1)).find("lost bytes") != std::string::npos);
}

TEST_CASE("late in a run, where doubles are coarser than 10 ps, physics allows for it") {
  const TwoMessages two;
  Physics physics(two.plan, two.cluster, two.works);
  const double late = 3e6;
  physics.flow_started(two.sends[0], late);
  physics.flow_ended(two.sends[0], late + 0.001 - 2e-9 * 0.5);
  CHECK(complaint(physics.verdict(1)).find("broke physics") == std::string::npos);
}

}  // namespace
}  // namespace weir
