// The races that the proof sees against all pairs of accesses, one by one.
#include "core/plan/race.h"

#include "core/plan/access.h"
#include "core/plan/structure.h"
#include "tests/catch.h"
#include "tests/core/plan/random_plan.h"

namespace weir {
namespace {

struct Use {
  std::uint32_t position;
  Access access;
};

bool conflicting(const Access& a, const Access& b) {
  const bool same = a.extent.buffer == b.extent.buffer && a.extent.replica == b.extent.replica;
  const bool apart =
      a.extent.range.end() <= b.extent.range.offset || b.extent.range.end() <= a.extent.range.offset;
  return same && !apart && !commute(a.kind, b.kind) &&
         (a.kind != Access::Kind::kRead || b.kind != Access::Kind::kRead);
}

bool has_race(const Plan& plan, const Order& order) {
  std::vector<Use> uses;
  for (const Op& op : plan.ops()) {
    std::vector<Access> accesses;
    append_accesses(plan, op, accesses);
    for (const Access& access : accesses) uses.push_back({order.position(op.id), access});
  }
  const auto before = examples::closure(order);
  for (const Use& a : uses) {
    for (const Use& b : uses) {
      if (!conflicting(a.access, b.access)) continue;
      const bool apart =
          a.position == b.position || before[a.position][b.position] || before[b.position][a.position];
      if (!apart || !before[a.position][order.events() + b.position]) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the proof sees a race exactly where two accesses conflict without order", "[plan][race]") {
  std::size_t clean = 0;
  std::size_t raced = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Plan plan = examples::random_plan(Random(seed), 3 + seed % 6, 20 + static_cast<int>(seed % 8) * 10);
    REQUIRE(structure_findings(plan).empty());
    const Result<Order> order = Order::of(plan);
    REQUIRE(order);
    const bool expected = has_race(plan, *order);
    INFO("seed " << seed);
    REQUIRE(races(plan, *order).findings.empty() != expected);
    ++(expected ? raced : clean);
  }
  REQUIRE(clean > 100);
  REQUIRE(raced > 100);
}

}  // namespace weir
