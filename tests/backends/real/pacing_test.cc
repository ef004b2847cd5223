#include "backends/real/pacing.h"

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

using namespace weir::literals;

TEST_CASE("peers are sent to at rates in proportion to their bytes, which fill the busiest link") {
  const Cluster cluster = cluster_of(R"({"name": "three", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  PlanBuilder builder("by hand", 3);
  const auto message = [&](std::size_t from, std::size_t into, Bytes size) {
    Op op;
    op.kind = OpKind::kSend;
    op.machine = MachineId(from);
    op.peer = MachineId(into);
    op.message = builder.add_message();
    op.from = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
               size};
    builder.add(op);
    std::swap(op.machine, op.peer);
    op.kind = OpKind::kReceive;
    op.into = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
               size};
    op.from = {};
    builder.add(op);
  };
  message(0, 1, 2_MB);
  message(0, 2, 1_MB);  // machine 0 sends for 3 ms, longer than any other link works
  message(1, 0, 1_MB);
  const Plan plan = std::move(builder).build();
  const WorkTable works(plan, cluster);
  const auto of = [&](std::size_t self) { return paces(plan, cluster, works, MachineId(self)); };
  CHECK(of(0)[1].value() == 666'666'667);
  CHECK(of(0)[2].value() == 333'333'333);
  CHECK(of(1)[0].value() == 333'333'333);
  CHECK_FALSE(of(2)[0].limited());
}

}  // namespace
}  // namespace weir::real
