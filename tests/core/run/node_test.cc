#include "core/run/node.h"

#include <algorithm>

#include "tests/catch.h"

namespace weir {
namespace {

// A port whose ops end when the test says so.
class ScriptedPort final : public Port {
 public:
  Instant now() const override { return now_; }
  void submit(const Op& op) override { submitted.push_back(op.id); }
  void poll(std::vector<Completion>& out) override {
    now_ = time;
    out.insert(out.end(), ended_.begin(), ended_.end());
    ended_.clear();
  }

  void end(OpId op) {
    const auto at = std::find(submitted.begin(), submitted.end(), op);
    REQUIRE(at != submitted.end());
    submitted.erase(at);
    ended_.push_back({op, time, time});
  }
  void fail(OpId op) { ended_.push_back({op, time, time, &cable_}); }

  std::vector<OpId> submitted;  // and not ended yet
  Instant time;

 private:
  const Error cable_{"the cable is out"};
  Instant now_;
  std::vector<Completion> ended_;
};

using Ids = std::vector<OpId>;

// Ops a -> b, a -> c, and in the next iteration b -> a:    a --> b ..> a
//                                                            \-> c
struct Fork {
  Fork() {
    Op op;
    op.machine = MachineId(0);
    a = builder.add(op);
    b = builder.add(op);
    c = builder.add(op);
    builder.order(a, b);
    builder.order(a, c);
    builder.carry(b, a);
  }
  PlanBuilder builder{"fork", 1};
  OpId a, b, c;
  Plan plan() { return PlanBuilder(builder).build(); }
};

TEST_CASE("an op is submitted as soon as everything that it waits for has completed") {
  Fork fork;
  const Plan plan = fork.plan();
  Record record(3, 1);
  ScriptedPort port;
  Node node(plan, MachineId(0), 1, record);
  CHECK(node.pump(port));
  CHECK(port.submitted == Ids{fork.a});
  CHECK_FALSE(node.pump(port));
  port.time = Instant(7);
  port.end(fork.a);
  CHECK(node.pump(port));
  CHECK(port.submitted == Ids{fork.b, fork.c});
  CHECK(node.outstanding(9) == Ids{fork.b, fork.c});
  CHECK(node.outstanding(1) == Ids{fork.b});
  port.time = Instant(9);
  port.end(fork.c);
  port.end(fork.b);
  CHECK_FALSE(node.finished());
  node.pump(port);
  CHECK(node.finished());
  CHECK(record.of(fork.a, 0).completed == Instant(7));
  CHECK(record.of(fork.b, 0).submitted == Instant(7));
  CHECK(record.of(fork.c, 0).completed == Instant(9));
}

TEST_CASE("the next iteration may begin before this one has ended, where carried edges allow it") {
  Fork fork;
  const Plan plan = fork.plan();
  Record record(3, 3);
  ScriptedPort port;
  Node node(plan, MachineId(0), 3, record);
  node.pump(port);
  port.end(fork.a);
  node.pump(port);
  port.end(fork.b);
  node.pump(port);
  CHECK(port.submitted == Ids{fork.c, fork.a});  // a of the second iteration and c of the first
  port.end(fork.a);
  node.pump(port);
  CHECK(port.submitted == Ids{fork.c, fork.b});  // c of the second iteration waits for c of the first
  port.end(fork.b);
  node.pump(port);
  CHECK(port.submitted == Ids{fork.c});  // a third iteration does not begin before the first has ended
  port.end(fork.c);
  node.pump(port);
  CHECK(port.submitted == Ids{fork.c, fork.a});  // the earlier iteration first
}

TEST_CASE("a node runs all iterations and then stops") {
  Fork fork;
  const Plan plan = fork.plan();
  constexpr int kIterations = 50;
  Record record(3, kIterations);
  ScriptedPort port;
  Node node(plan, MachineId(0), kIterations, record);
  int completed = 0;
  while (!node.finished()) {
    node.pump(port);
    port.time = port.time + Duration(1);
    if (port.submitted.empty()) continue;
    port.end(port.submitted.back());
    ++completed;
  }
  CHECK(completed == 3 * kIterations);
  CHECK(port.submitted.empty());
  for (int i = 1; i < kIterations; ++i)
    CHECK(record.of(fork.a, i).submitted >= record.of(fork.b, i - 1).completed);
}

TEST_CASE("independent parts of a plan have their own iterations") {
  PlanBuilder builder("two chains", 1);
  Op op;
  op.machine = MachineId(0);
  const OpId a = builder.add(op);
  const OpId b = builder.add(op);
  builder.order(a, b);
  builder.carry(b, a);
  const OpId other = builder.add(op);
  const Plan plan = std::move(builder).build();
  for (const bool apart : {true, false}) {
    ScriptedPort port;
    Node node(plan, MachineId(0), 5, apart ? Rounds::kApart : Rounds::kTogether);
    node.pump(port);
    CHECK(port.submitted == Ids{a, other});
    for (int i = 0; i < 5 && port.submitted.back() != other; ++i) {
      const OpId next = port.submitted.back();
      port.end(next);
      node.pump(port);
    }
    for (int round = 0; round < 4;
         ++round) {  // without the other part, which is still in its first iteration
      for (const OpId next : {a, b}) {
        if (std::find(port.submitted.begin(), port.submitted.end(), next) == port.submitted.end()) continue;
        port.end(next);
        node.pump(port);
      }
    }
    CHECK(port.submitted == (apart ? Ids{other, a} : Ids{other}));
    CHECK_FALSE(node.finished());
    while (!port.submitted.empty()) {
      port.end(port.submitted.front());
      node.pump(port);
    }
    CHECK(node.finished());
  }
}

TEST_CASE("an op that fails ends the run, with its error") {
  Fork fork;
  const Plan plan = fork.plan();
  Record record(3, 1);
  ScriptedPort port;
  Node node(plan, MachineId(0), 1, record);
  node.pump(port);
  port.fail(fork.a);
  node.pump(port);
  CHECK(node.finished());
  REQUIRE(node.error());
  CHECK(node.error()->text == "the cable is out");
}

TEST_CASE("a machine without ops is finished from the start") {
  Fork fork;
  PlanBuilder two("two", 2);
  Op op;
  op.machine = MachineId(1);
  two.add(op);
  const Plan plan = std::move(two).build();
  Record record(1, 4);
  ScriptedPort port;
  Node node(plan, MachineId(0), 4, record);
  CHECK(node.finished());
  CHECK_FALSE(node.pump(port));
}

}  // namespace
}  // namespace weir
