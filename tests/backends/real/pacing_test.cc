#include "backends/real/job/pacing.h"

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

using namespace weir::literals;

// Three machines with NICs of 1 GB/s.
const Cluster& three() {
  static const Cluster cluster = cluster_of(R"({"name": "three", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  return cluster;
}

struct Message {
  OpId send;
  OpId receive;
};

Message message(PlanBuilder& builder, std::size_t from, std::size_t into, Bytes size) {
  Op op;
  op.kind = OpKind::kSend;
  op.machine = MachineId(from);
  op.peer = MachineId(into);
  op.message = builder.add_message();
  op.from = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
             size};
  const OpId send = builder.add(op);
  std::swap(op.machine, op.peer);
  op.kind = OpKind::kReceive;
  op.into = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
             size};
  op.from = {};
  return {send, builder.add(op)};
}

Paces paces_of(PlanBuilder builder) {
  const Plan plan = std::move(builder).build();
  return paces(plan, three(), WorkTable(plan, three()));
}

TEST_CASE("peers are sent to at rates in proportion to their bytes, which fill the busiest link") {
  PlanBuilder builder("by hand", 3);
  message(builder, 0, 1, 2_MB);
  message(builder, 0, 2, 1_MB);  // machine 0 sends for 3 ms, longer than any other link works
  message(builder, 1, 0, 1_MB);
  const Paces rates = paces_of(std::move(builder));
  CHECK(rates[0].at({MachineId(1)}).value() == 666'666'667);
  CHECK(rates[0].at({MachineId(2)}).value() == 333'333'333);
  CHECK(rates[1].at({MachineId(0)}).value() == 333'333'333);
  CHECK(rates[2].empty());
}

TEST_CASE("a ring is paced to its links, as a pace there holds nothing up") {
  PlanBuilder builder("by hand", 3);
  const Message first = message(builder, 0, 1, 1_MB);
  const Message second = message(builder, 1, 2, 1_MB);
  builder.order(first.receive, second.send);
  builder.order(second.receive, message(builder, 2, 0, 1_MB).send);
  const Paces rates = paces_of(std::move(builder));
  for (std::size_t m = 0; m < 3; ++m) CHECK(rates[m].at({MachineId((m + 1) % 3)}).value() == 1'000'000'000);
}

TEST_CASE("what waits for one message after the other is not paced") {
  PlanBuilder builder("by hand", 3);
  const Message there = message(builder, 0, 1, 1_MB);
  builder.order(there.receive, message(builder, 1, 0, 1_MB).send);  // 2 ms, and 6 ms at a third of the rate
  message(builder, 0, 2, 2_MB);
  for (const auto& of_one : paces_of(std::move(builder))) CHECK(of_one.empty());
}

}  // namespace
}  // namespace weir::real
