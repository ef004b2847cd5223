// Compares the races that the proof finds with a check of all pairs of accesses.
#include "core/plan/race.h"

#include <array>
#include <utility>

#include "core/plan/access.h"
#include "core/plan/structure.h"
#include "tests/catch.h"
#include "tests/core/plan/random_plan.h"

namespace weir {
namespace {

using namespace literals;

struct Use {
  OpId op;
  Access access;
};

bool conflicting(const Access& a, const Access& b) {
  const bool same = a.extent.buffer == b.extent.buffer && a.extent.replica == b.extent.replica;
  const bool apart =
      a.extent.range.end() <= b.extent.range.offset || b.extent.range.end() <= a.extent.range.offset;
  return same && !apart && !commute(a.kind, b.kind) &&
         (a.kind != Access::Kind::kRead || b.kind != Access::Kind::kRead);
}

bool has_race(const Plan& plan) {
  std::vector<Use> uses;
  for (const Op& op : plan.ops()) {
    std::vector<Access> accesses;
    append_accesses(plan, op, accesses);
    for (const Access& access : accesses) uses.push_back({op.id, access});
  }
  const examples::Closure closure(plan);
  for (const Use& a : uses) {
    for (const Use& b : uses) {
      if (!conflicting(a.access, b.access)) continue;
      const bool apart =
          a.op == b.op || closure.ordered(a.op, b.op, false) || closure.ordered(b.op, a.op, false);
      if (!apart || !closure.ordered(a.op, b.op, true)) return true;
    }
  }
  return false;
}

// Machine 0 sends two messages, the second after the first is sent. Machine 1 has two slots of 4 bytes for
// them in b1. The slots after those take two sums.
struct TwoMessages {
  TwoMessages() {
    const BufferId source =
        builder.add({.machine = MachineId(0), .role = Buffer::Role::kScratch, .size = 8_B});
    target = builder.add({.machine = MachineId(1), .role = Buffer::Role::kScratch, .size = 16_B});
    for (std::size_t i = 0; i < 2; ++i) {
      const Bytes at = static_cast<std::int64_t>(i) * 4_B;
      Op end;
      end.message = builder.add_message();
      end.machine = MachineId(0);
      end.peer = MachineId(1);
      end.kind = OpKind::kSend;
      end.from = {source, 0, at, 4_B};
      send[i] = builder.add(end);
      std::swap(end.machine, end.peer);
      end.kind = OpKind::kReceive;
      end.from = {};
      end.into = {target, 0, at, 4_B};
      receive[i] = builder.add(end);
    }
    builder.order(send[0], send[1]);
  }

  OpId add(OpKind kind, Bytes from, Bytes into) {
    Op op;
    op.machine = MachineId(1);
    op.kind = kind;
    op.from = {target, 0, from, 4_B};
    op.into = {target, 0, into, 4_B};
    return builder.add(op);
  }

  std::string found() const {
    const Plan plan = PlanBuilder(builder).build();
    const ProofErrors findings = races(plan, *Order::of(plan)).findings;
    return findings.empty() ? "" : findings.error().text;
  }

  PlanBuilder builder{"two messages", 2};
  BufferId target;
  std::array<OpId, 2> send;
  std::array<OpId, 2> receive;
};

}  // namespace

TEST_CASE("a message that was sent may not have landed yet", "[plan][race]") {
  TwoMessages plan;
  const OpId sum = plan.add(OpKind::kSum, 0_B, 8_B);
  plan.builder.order(plan.receive[1], sum);
  plan.builder.carry(sum, plan.receive[0]);
  REQUIRE(plan.found() ==
          "race: op 2 (receive on machine 1 from 0) writes b1[0+4] and op 4 (sum on machine 1) reads it, but "
          "neither waits for the other");
  plan.builder.order(plan.receive[0], sum);
  REQUIRE(plan.found().empty());
}

TEST_CASE("the source of a message that has landed may still be read", "[plan][race]") {
  TwoMessages plan;
  Op back = plan.builder.op(plan.send[1]);
  const Op receive = plan.builder.op(plan.receive[0]);
  back.message = plan.builder.add_message();
  back.machine = MachineId(1);
  back.peer = MachineId(0);
  back.from = {plan.target, 0, 8_B, 4_B};
  const OpId send = plan.builder.add(back);
  Op landing = receive;
  landing.message = back.message;
  landing.machine = MachineId(0);
  landing.peer = MachineId(1);
  landing.into = {plan.builder.op(plan.send[0]).from};
  const OpId landed = plan.builder.add(landing);
  plan.builder.order(plan.receive[0], send);
  plan.builder.carry(landed, plan.send[0]);
  REQUIRE(
      plan.found() ==
      "race: op 0 (send on machine 0 to 1) reads b0[0+4] and op 2 (receive on machine 0 from 1) writes it, "
      "but neither waits for the other");
  plan.builder.order(plan.send[0], landed);
  REQUIRE(plan.found().empty());
}

TEST_CASE("a message is not sent before its slice was free to receive it", "[plan][race]") {
  // The copy reads before the first message may land; the second message lands later still.
  TwoMessages plan;
  const OpId copy = plan.add(OpKind::kCopy, 8_B, 12_B);
  const OpId over = plan.add(OpKind::kCopy, 4_B, 8_B);
  plan.builder.order(copy, plan.receive[0]);
  plan.builder.order(plan.receive[1], over);
  plan.builder.carry(over, copy);
  REQUIRE(plan.found().empty());
  REQUIRE(plan.builder.remove_edge(copy, plan.receive[0]));
  plan.builder.order(plan.receive[0], copy);
  REQUIRE(plan.found().find("(copy on machine 1) reads b1[8+4]") != std::string::npos);
}

TEST_CASE("the proof sees a race exactly where two accesses conflict without order", "[plan][race]") {
  std::size_t clean = 0;
  std::size_t raced = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Plan plan = examples::random_plan(Random(seed), 3 + seed % 6, 20 + static_cast<int>(seed % 8) * 10);
    REQUIRE(structure_findings(plan).empty());
    const Result<Order> order = Order::of(plan);
    REQUIRE(order);
    const bool expected = has_race(plan);
    INFO("seed " << seed);
    REQUIRE(races(plan, *order).findings.empty() != expected);
    ++(expected ? raced : clean);
  }
  REQUIRE(clean > 100);
  REQUIRE(raced > 100);
}

}  // namespace weir
