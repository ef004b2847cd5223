#include "tests/conformance/port_conformance.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::conformance {
namespace {

using namespace weir::literals;

// Four machines with one GPU each. NICs of 1 GB/s move 1 MB in 1 ms, cores sum 1 MB in 1 ms, and nothing else
// takes time.
//
//     0 ----\ /---- 1
//            X
//     3 ----/ \---- 2
const Cluster& square() {
  static const Cluster cluster = cluster_of(R"({"name": "square", "groups": [
    {"name": "gpu", "count": 4, "numa": [{"sum_rate": "1GB/s"}], "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  return cluster;
}

class Draft {
 public:
  Draft() {
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      memory_[m] = builder.add({MachineId(m), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, 64_MB});
    }
  }

  OpId compute(std::size_t machine, Duration duration) { return timed(machine, OpKind::kForward, duration); }

  OpId timed(std::size_t machine, OpKind kind, Duration duration) {
    Op op;
    op.machine = MachineId(machine);
    op.kind = kind;
    op.duration = duration;
    return builder.add(op);
  }

  struct Ends {
    OpId send;
    OpId receive;
  };
  // A message of 1 MB to a separate place.
  Ends message(std::size_t source, std::size_t target, int priority = 0) {
    Op send;
    send.machine = MachineId(source);
    send.kind = OpKind::kSend;
    send.message = builder.add_message();
    send.peer = MachineId(target);
    send.priority = priority;
    send.from = place(source);
    Op receive = send;
    receive.machine = MachineId(target);
    receive.kind = OpKind::kReceive;
    receive.peer = MachineId(source);
    receive.from = {};
    receive.into = place(target);
    return {builder.add(send), builder.add(receive)};
  }

  OpId sum(std::size_t machine, const Slice& into) {
    Op op;
    op.machine = MachineId(machine);
    op.kind = OpKind::kSum;
    op.from = place(machine);
    op.into = into;
    return builder.add(op);
  }

  Slice place(std::size_t machine) { return {memory_[machine], 0, 1_MB * used_[machine]++, 1_MB}; }

  PlanBuilder builder{"by hand", 4};

 private:
  std::array<BufferId, 4> memory_;
  std::array<int, 4> used_{};
};

// A finished run, addressed by the ids of the draft.
class Run {
 public:
  Run(const World& world, const Draft& draft, Bytes window, int iterations = 1, Policy policy = Policy::kFifo)
      : world_(world), plan_(PlanBuilder(draft.builder).build()) {
    SimulationSettings settings;
    settings.dispatch = {policy, window};
    settings.iterations = iterations;
    Result<Record> record = world.run({plan_, square(), settings, [&](const Op& op) { ++observed_[op.id]; }});
    INFO((record ? std::string() : record.error().text));
    REQUIRE(record);
    record_ = std::move(*record);
    // build() sorts ops by machine and keeps their order on each.
    std::vector<std::pair<std::size_t, std::size_t>> drafted;
    PlanBuilder copy(draft.builder);
    for (std::size_t i = 0; i < copy.size(); ++i) drafted.emplace_back(copy.op(OpId(i)).machine.index(), i);
    std::stable_sort(drafted.begin(), drafted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < drafted.size(); ++i) built_[OpId(drafted[i].second)] = OpId(i);
  }

  const OpRecord& of(OpId op, int iteration = 0) const { return record_.of(built_.at(op), iteration); }
  const Plan& plan() const { return plan_; }
  const Record& record() const { return record_; }
  const std::map<OpId, int>& observed() const { return observed_; }

  void check(OpId op, Duration started, Duration completed, int iteration = 0) const {
    INFO(world_.name << ", op " << op.value() << ", iteration " << iteration);
    if (!world_.exact) return;
    check_near(of(op, iteration).started, started);
    check_near(of(op, iteration).completed, completed);
  }

 private:
  void check_near(Instant at, Duration expected) const {
    CHECK(at.ns() >= (expected - world_.tolerance).ns());
    CHECK(at.ns() <= (expected + world_.tolerance).ns());
  }

  const World& world_;
  Plan plan_;
  Record record_;
  std::map<OpId, int> observed_;
  std::map<OpId, OpId> built_;
};

constexpr Bytes kWide(1'000'000'000);

void check_exactly_once(const World& world) {
  Draft draft;
  for (std::size_t source = 0; source < 4; ++source) {
    for (std::size_t target = 0; target < 4; ++target) {
      if (source == target) continue;
      const Draft::Ends ends = draft.message(source, target);
      draft.builder.order(draft.compute(source, 100_us), ends.send);
      draft.builder.order(ends.receive, draft.sum(target, draft.place(target)));
    }
  }
  for (const Bytes window : {1_B, 2_MB, kWide}) {
    const Run run(world, draft, window, 4);
    for (const Op& op : run.plan().ops()) {
      // Worlds report a message once, as its send.
      if (op.kind != OpKind::kReceive) CHECK(run.observed().at(op.id) == 4);
      for (int i = 0; i < 4; ++i) {
        const OpRecord& life = run.record().of(op.id, i);
        CHECK(life.submitted <= life.started);
        CHECK(life.started <= life.completed);
        CHECK(life.completed > Instant());
      }
    }
  }
}

void check_rendezvous(const World& world) {
  Draft late_receive;
  const Draft::Ends a = late_receive.message(0, 1);
  const OpId before_receive = late_receive.compute(1, 5_ms);
  late_receive.builder.order(before_receive, a.receive);
  const Run first(world, late_receive, kWide);
  // In worlds that are not exact, machines may start some time apart.
  if (world.exact) CHECK(first.of(a.send).submitted < first.of(before_receive).completed);
  CHECK(first.of(a.send).started >= first.of(before_receive).completed);
  first.check(a.send, 5_ms, 6_ms);
  first.check(a.receive, 5_ms, 6_ms);

  Draft late_send;
  const Draft::Ends b = late_send.message(0, 1);
  const OpId before_send = late_send.compute(0, 3_ms);
  late_send.builder.order(before_send, b.send);
  const Run second(world, late_send, kWide);
  if (world.exact) CHECK(second.of(b.receive).submitted < second.of(before_send).completed);
  CHECK(second.of(b.receive).completed >= second.of(before_send).completed);
  second.check(b.receive, 3_ms, 4_ms);
}

bool earlier(const OpRecord& a, const OpRecord& b) { return a.started < b.started; }

void check_window(const World& world) {
  // A message that waits for its other end takes no window, so the second message passes the first.
  Draft waiting;
  const Draft::Ends held = waiting.message(0, 1);
  const Draft::Ends free = waiting.message(0, 2);
  waiting.builder.order(waiting.compute(1, 5_ms), held.receive);
  // In worlds that are not exact, machines may start later than that. So the first message also waits for a
  // note that the second has arrived.
  const Draft::Ends word = waiting.message(2, 1);
  waiting.builder.order(free.receive, word.send);
  waiting.builder.order(word.receive, held.receive);
  const Run passing(world, waiting, 1_B);
  CHECK(passing.of(free.send).completed <= passing.of(held.send).started);
  passing.check(free.send, 0_ms, 1_ms);
  passing.check(held.send, 5_ms, 6_ms);

  // If messages were charged at submission, this would hang: the first receive waits for the second message.
  Draft crossed;
  const Draft::Ends one = crossed.message(0, 1);
  const Draft::Ends two = crossed.message(0, 1);
  crossed.builder.order(two.receive, one.receive);
  const Run uncrossed(world, crossed, 1_B);
  CHECK(uncrossed.of(two.send).completed <= uncrossed.of(one.send).started);
  uncrossed.check(two.send, 0_ms, 1_ms);
  uncrossed.check(one.send, 1_ms, 2_ms);

  // Two messages fit the window and share the NIC; the third starts when they are done.
  Draft three;
  const Draft::Ends x = three.message(0, 1);
  const Draft::Ends y = three.message(0, 2);
  const Draft::Ends z = three.message(0, 3);
  const Run shared(world, three, 2_MB);
  std::vector<OpRecord> lives = {shared.of(x.send), shared.of(y.send), shared.of(z.send)};
  std::sort(lives.begin(), lives.end(), earlier);
  CHECK(lives[2].started >= std::min(lives[0].completed, lives[1].completed));
  shared.check(x.send, 0_ms, 2_ms);
  shared.check(y.send, 0_ms, 2_ms);
  shared.check(z.send, 2_ms, 3_ms);
}

// An op after which machine 0 may send to the others. Before it, each of them sends a note, which shows that
// it runs and has submitted its receives; 5 ms more leave time for what else they reported then.
OpId all_are_there(Draft& draft, std::size_t machines) {
  const OpId gate = draft.compute(0, 5_ms);
  for (std::size_t m = 1; m < machines; ++m) draft.builder.order(draft.message(m, 0).receive, gate);
  return gate;
}

std::vector<std::size_t> in_order_of_starts(const Run& run, const std::vector<OpId>& ops) {
  std::vector<std::size_t> order(ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return earlier(run.of(ops[a]), run.of(ops[b])); });
  return order;
}

void check_policy(const World& world) {
  // All could start when the gate is done; the last is the most urgent. The note takes 1 ms.
  Draft draft;
  const OpId gate = all_are_there(draft, 2);
  std::vector<OpId> sends;
  for (int i = 0; i < 4; ++i) {
    sends.push_back(draft.message(0, 1, -i).send);
    draft.builder.order(gate, sends.back());
  }
  const Run fifo(world, draft, 1_B);
  for (int i = 0; i < 4; ++i)
    fifo.check(sends[static_cast<std::size_t>(i)], 6_ms + 1_ms * i, 7_ms + 1_ms * i);
  CHECK(in_order_of_starts(fifo, sends) == std::vector<std::size_t>{0, 1, 2, 3});
  const Run urgent(world, draft, 1_B, 1, Policy::kPriority);
  for (int i = 0; i < 4; ++i)
    urgent.check(sends[static_cast<std::size_t>(3 - i)], 6_ms + 1_ms * i, 7_ms + 1_ms * i);
  std::vector<std::size_t> order = in_order_of_starts(urgent, sends);
  order.erase(order.begin());  // worlds that are not exact start the first message that they get
  CHECK(std::is_sorted(order.rbegin(), order.rend()));
}

void check_sharing(const World& world) {
  // Three messages into machine 3 share its NIC: 1/3 each for 3 ms. Machine 0 sends another message at the
  // same time, which gets the rest of NIC 0: 2/3, until it is done after 1.5 ms.
  Draft draft;
  std::vector<OpId> into;
  for (std::size_t m = 0; m < 3; ++m) into.push_back(draft.message(m, 3).send);
  const OpId beside = draft.message(0, 1).send;
  const Run run(world, draft, kWide);
  run.check(beside, 0_ms, 1500_us);
  for (const OpId op : into) run.check(op, 0_ms, 3_ms);
}

void check_delays(const World& world) {
  Draft draft;
  const OpId first = draft.timed(0, OpKind::kWait, 2_ms);
  const OpId second = draft.timed(0, OpKind::kWait, 2_ms);
  const OpId beside = draft.timed(0, OpKind::kHold, 3_ms);
  const OpId another = draft.timed(0, OpKind::kHold, 3_ms);
  const Run run(world, draft, kWide);
  run.check(first, 0_ms, 2_ms);
  run.check(second, 2_ms, 4_ms);
  run.check(beside, 0_ms, 3_ms);
  run.check(another, 0_ms, 3_ms);
  CHECK(run.of(second).started >= run.of(first).completed);
  CHECK(run.of(another).started < run.of(beside).completed);
  for (const OpId op : {first, second, beside, another})
    CHECK(run.of(op).completed - run.of(op).started >= (op == first || op == second ? 2_ms : 3_ms));
}

void check_sums(const World& world) {
  Draft draft;
  const Slice total = draft.place(0);
  std::vector<OpId> sums;
  for (int i = 0; i < 4; ++i) sums.push_back(draft.sum(0, total));
  const Run run(world, draft, kWide);
  std::vector<OpRecord> lives;
  for (const OpId op : sums) lives.push_back(run.of(op));
  std::sort(lives.begin(), lives.end(), earlier);
  for (std::size_t i = 0; i + 1 < lives.size(); ++i) CHECK(lives[i].completed <= lives[i + 1].started);
  if (world.exact) CHECK((lives.back().completed - Instant()).ns() >= (4_ms - world.tolerance).ns());
}

void check_one_instant(const World& world) {
  // One completion makes ten ops ready: all are submitted at its instant.
  Draft draft;
  const OpId before = draft.compute(0, 2_ms);
  std::vector<OpId> after;
  for (int i = 0; i < 10; ++i) {
    after.push_back(draft.sum(0, draft.place(0)));
    draft.builder.order(before, after.back());
  }
  const Run run(world, draft, kWide);
  for (const OpId op : after) {
    CHECK(run.of(op).submitted == run.of(after.front()).submitted);
    CHECK(run.of(op).submitted >= run.of(before).completed);
  }
}

void check_resubmission(const World& world) {
  // A ping and its echo take 2 ms, again and again.
  constexpr int kIterations = 5;
  Draft draft;
  const Draft::Ends ping = draft.message(0, 1);
  const Draft::Ends echo = draft.message(1, 0);
  draft.builder.order(ping.receive, echo.send);
  draft.builder.carry(echo.receive, ping.send);
  const Run run(world, draft, kWide, kIterations);
  for (int i = 0; i < kIterations; ++i) {
    run.check(ping.send, 2_ms * i, 2_ms * i + 1_ms, i);
    run.check(echo.receive, 2_ms * i + 1_ms, 2_ms * i + 2_ms, i);
    CHECK(run.of(ping.receive, i).completed <= run.of(echo.send, i).started);
  }
}

}  // namespace

void check_port(const World& world) {
  INFO(world.name);
  SECTION("1: each submitted op completes exactly once") { check_exactly_once(world); }
  SECTION("2: a message moves only after both of its ends have been submitted") { check_rendezvous(world); }
  SECTION("3: the window is charged when a message starts") { check_window(world); }
  SECTION("3: the policy chooses among messages that could start") { check_policy(world); }
  // Other worlds use the links of the host.
  if (world.exact) {
    SECTION("3: messages in flight share links fairly") { check_sharing(world); }
  }
  SECTION("3: waits of a machine run one at a time, holds in parallel") { check_delays(world); }
  SECTION("5: sums into overlapping slices do not overlap in time") { check_sums(world); }
  SECTION("6: ops that become ready together are submitted at one instant") { check_one_instant(world); }
  SECTION("7: ops are submitted again, iteration after iteration") { check_resubmission(world); }
  check_work(world);
}

}  // namespace weir::conformance
