// Orders of submission that are equal, explained, or wrong.
#include "core/compare/submissions.h"

#include "tests/catch.h"
#include "tests/core/compare/scene.h"

namespace weir {
namespace {

using namespace weir::literals;

// Swaps x and y in this iteration, so that the second machine sums y first.
Record swapped(const CompareScene& scene, int iteration) {
  Record record = scene.record();
  std::swap(record.of(scene.send_x, iteration), record.of(scene.send_y, iteration));
  std::swap(record.of(scene.receive_x, iteration), record.of(scene.receive_y, iteration));
  std::swap(record.of(scene.sum_x, iteration), record.of(scene.sum_y, iteration));
  return record;
}

TEST_CASE("equal orders are equal, whatever the times") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  for (const OpId op : {scene.join, scene.forward}) delay(b, op, 1, 50_ns);
  b.of(scene.sum_y, 1).completed = b.of(scene.sum_y, 1).completed + 50_ns;
  const Orders found = orders(scene.recorded(a), scene.recorded(b));
  CHECK(found.equal());
  CHECK(found.explained());
  CHECK(found.iterations == 2);
  REQUIRE(found.machines.size() == 2);
  CHECK(found.machines[0].submitted == 6);
  CHECK(found.machines[1].submitted == 10);  // joins do not count
}

TEST_CASE("ops of one instant have no order") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  delay(b, scene.send_x, 0, 1_ns);  // in `a`, both sends are submitted at 100
  CHECK(orders(scene.recorded(a), scene.recorded(b)).equal());
  CHECK(orders(scene.recorded(b), scene.recorded(a)).equal());
}

TEST_CASE("another order is explained by the completions that ops followed") {
  const CompareScene scene;
  const Record a = scene.record();
  const Record b = swapped(scene, 1);
  const Orders found = orders(scene.recorded(a), scene.recorded(b));
  CHECK(!found.equal());
  CHECK(found.explained());
  CHECK(found.machines[0].swapped == 0);
  const MachineOrder& second = found.machines[1];
  CHECK(second.swapped == 1);
  CHECK(second.ready_in_other_order == 1);
  REQUIRE(second.first);
  CHECK(second.first->first == Turn{scene.sum_x, 1});
  CHECK(second.first->second == Turn{scene.sum_y, 1});
  CHECK(second.first->first_in_a.ready.after == Turn{scene.receive_x, 1});
  CHECK(second.first->first_in_a.ready.at == Instant(1310));
  CHECK(second.first->second_in_b.ready.after == Turn{scene.receive_y, 1});
  CHECK(second.first->second_in_b.at == Instant(1310));
}

TEST_CASE("readiness goes through joins, and from an op to itself in the next iteration") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  delay(b, scene.forward, 0, 800_ns);  // its join waits for the sum that ends at 560
  const Orders found = orders(scene.recorded(a), scene.recorded(b));
  CHECK(found.explained());
  CHECK(found.a.longest == 900_ns);  // backward runs again at 1000, although it could have run since 100
  CHECK(found.b.longest == 900_ns);
  REQUIRE(found.machines[1].first);
  CHECK(found.machines[1].first->first == Turn{scene.forward, 0});
  CHECK(found.machines[1].first->first_in_b.ready.after == Turn{scene.sum_y, 0});
}

TEST_CASE("an op that is submitted before its dependencies complete is found") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  b.of(scene.sum_y, 0).submitted = Instant(300);  // although its message arrives at 510
  const Orders found = orders(scene.recorded(a), scene.recorded(b));
  CHECK(!found.equal());
  CHECK(!found.explained());
  CHECK(found.a.early == 0);
  CHECK(found.b.early == 1);
  CHECK(found.b.first_early == Turn{scene.sum_y, 0});
}

TEST_CASE("records of different lengths are compared over their common iterations") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  b.iterations.pop_back();
  const Orders found = orders(scene.recorded(a), scene.recorded(b));
  CHECK(found.iterations == 1);
  CHECK(found.equal());
}

}  // namespace
}  // namespace weir
