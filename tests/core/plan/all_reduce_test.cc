// All-reduces over several machines that are one op on each machine: what the proof shows, and the errors
// that it finds.
#include <array>

#include "core/plan/print.h"
#include "core/plan/proof.h"
#include "core/plan/structure.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/simulation.h"
#include "tests/catch.h"
#include "tests/core/plan/examples.h"

namespace weir {
namespace {

using namespace literals;
constexpr std::size_t kMachines = 3;
constexpr Bytes kHalf = 20_B;

// Machines of two GPUs. Their gradient is reduced in two all-reduces, one for each half.
struct Halves {
  using Each = std::array<OpId, kMachines>;

  Halves() {
    for (auto& id : id_) id = builder.add_all_reduce();
    for (std::size_t m = 0; m < kMachines; ++m) {
      const MachineId machine(m);
      gradient[m] = builder.add({machine, Buffer::Role::kGradient, Memory::Kind::kGpu, 0, 2, kHalf * 2});
      backward[m] = add(m, OpKind::kBackward, {}, part(m, 0_B, kHalf * 2));
      for (std::size_t half = 0; half < 2; ++half) {
        const Slice own = part(m, kHalf * static_cast<std::int64_t>(half), kHalf);
        reduce[half][m] = add(m, OpKind::kAllReduce, {}, own);
        builder.op(reduce[half][m]).all_reduce = id_[half];
      }
      forward[m] = add(m, OpKind::kForward, part(m, 0_B, kHalf * 2), {});
      builder.order(backward[m], reduce[0][m]);
      builder.order(reduce[0][m], reduce[1][m]);
      builder.order(reduce[1][m], forward[m]);
      builder.carry(forward[m], backward[m]);
    }
  }

  Plan plan() const { return PlanBuilder(builder).build(); }

  Slice part(std::size_t machine, Bytes offset, Bytes size) {
    return {gradient[machine], Replicas::each(builder.all(gradient[machine])), offset, size};
  }

  OpId add(std::size_t machine, OpKind kind, const Slice& from, const Slice& into) {
    Op op;
    op.machine = MachineId(machine);
    op.kind = kind;
    op.from = from;
    op.into = into;
    op.layer = 0;
    if (is_compute(kind)) op.duration = Duration(5'000 * static_cast<std::int64_t>(machine + 1));
    return builder.add(op);
  }

  PlanBuilder builder{"halves by hand", kMachines};
  std::array<BufferId, kMachines> gradient;
  Each backward;
  std::array<Each, 2> reduce;
  Each forward;

 private:
  std::array<AllReduceId, 2> id_;
};

std::string complaint(const Halves& example) {
  const auto proof = examples::proof_of(example.plan());
  return proof ? "proved" : proof.error().text;
}

TEST_CASE("after an all-reduce each GPU has the sum of all, and the proof confirms it") {
  const Halves halves;
  REQUIRE(complaint(halves) == "proved");
  CHECK(examples::proof_of(halves.plan())->summed == kHalf * 2 * static_cast<std::int64_t>(2 * kMachines));
  const Plan plan = halves.plan();
  REQUIRE(plan.all_reduces().size() == 2);
  CHECK(plan.all_reduce(AllReduceId(1)).size() == kMachines);
  CHECK_THAT(text(plan), has_text("all-reduce b0:every[0+20] number 0"));
}

TEST_CASE("in simulation an all-reduce starts when its last machine arrives") {
  const Halves halves;
  const Plan plan = halves.plan();
  const examples::Setting setting(plan);
  SimulationSettings settings;
  settings.iterations = 3;
  FluidEngine engine(plan, setting.cluster);
  const auto record = simulate(plan, setting.cluster, settings, engine);
  REQUIRE(record);
  for (int iteration = 0; iteration < settings.iterations; ++iteration) {
    for (std::size_t half = 0; half < 2; ++half) {
      const std::span<const OpId> ops = plan.all_reduces()[half];
      Instant last;
      for (const OpId op : ops) last = std::max(last, record->of(op, iteration).submitted);
      for (const OpId op : ops) {
        CHECK(record->of(op, iteration).started >= last);
        CHECK(record->of(op, iteration).completed == record->of(ops.front(), iteration).completed);
      }
    }
  }
}

TEST_CASE("an all-reduce whose ops do not match is refused") {
  const auto broken = [](const auto& breaks) {
    Halves halves;
    breaks(halves);
    return complaint(halves);
  };
  CHECK_THAT(broken([](Halves& halves) { halves.builder.op(halves.reduce[1][2]).into.size = 16_B; }),
             has_text("the ops of all-reduce 1 do not match: 16 bytes of f32 against 20 bytes of f32"));
  CHECK_THAT(broken([](Halves& halves) { halves.builder.op(halves.reduce[1][2]).dtype = Dtype::kI32; }),
             has_text("the ops of all-reduce 1 do not match: 20 bytes of i32 against 20 bytes of f32"));
  CHECK_THAT(
      broken([](Halves& halves) { halves.builder.op(halves.reduce[1][2]).all_reduce = AllReduceId(0); }),
      has_text("all-reduce 0 has another op on its machine"));
  CHECK_THAT(broken([](Halves& halves) { halves.builder.add_all_reduce(); }),
             has_text("all-reduce 2 has no op"));
  CHECK_THAT(broken([](Halves& halves) {
               halves.builder.remove_edge(halves.reduce[0][1], halves.reduce[1][1]);
               halves.builder.order(halves.backward[1], halves.reduce[1][1]);
               halves.builder.order(halves.reduce[0][1], halves.forward[1]);
             }),
             has_text("it must wait for op 5 (all-reduce on machine 1, layer 0), the all-reduce before it"));
}

TEST_CASE("all-reduces in different orders on different machines are reported") {
  Halves halves;
  halves.builder.order(halves.reduce[1][2], halves.reduce[0][2]);
  halves.builder.remove_edge(halves.reduce[0][2], halves.reduce[1][2]);
  CHECK_THAT(complaint(halves), has_text("it must wait for op 9"));
  // One of the all-reduces waits for an op that waits for another of them.
  Halves waits;
  waits.builder.order(waits.forward[0], waits.backward[0]);
  CHECK_THAT(complaint(waits), has_text("deadlock: ops wait for one another"));
}

TEST_CASE("the input of an all-reduce must be complete, and nothing may write it meanwhile") {
  Halves early;
  early.builder.remove_edge(early.backward[1], early.reduce[0][1]);
  CHECK_THAT(complaint(early), has_text("all-reduce on machine"));
  CHECK(complaint(early) != "proved");
  Halves elsewhere;  // only the all-reduce of another machine waits for the backward op
  const Slice landed = {
      elsewhere.builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kGpu, 0, 2, 4_B}), 0, 0_B,
      4_B};
  const OpId send = elsewhere.add(1, OpKind::kSend, {elsewhere.gradient[1], 0, kHalf, 4_B}, {});
  const OpId receive = elsewhere.add(0, OpKind::kReceive, {}, landed);
  const MessageId message = elsewhere.builder.add_message();
  for (const OpId end : {send, receive}) elsewhere.builder.op(end).message = message;
  elsewhere.builder.op(send).peer = MachineId(0);
  elsewhere.builder.op(receive).peer = MachineId(1);
  elsewhere.builder.order(elsewhere.backward[1], send);
  elsewhere.builder.order(send, elsewhere.reduce[1][1]);
  elsewhere.builder.order(receive, elsewhere.reduce[0][0]);
  CHECK(complaint(elsewhere) == "proved");
  elsewhere.builder.remove_edge(elsewhere.backward[1], elsewhere.reduce[0][1]);
  CHECK_THAT(complaint(elsewhere), has_text("race: op 5 (backward on machine 1, layer 0) writes"));
  Halves late;
  late.builder.remove_edge(late.reduce[1][2], late.forward[2]);
  CHECK_THAT(complaint(late), has_text("neither waits for the other"));
  Halves twice;  // the second all-reduce sums the first half again
  for (const OpId op : twice.reduce[1]) twice.builder.op(op).into.offset = 0_B;
  CHECK_THAT(complaint(twice), has_text("counted twice"));
}

}  // namespace
}  // namespace weir
