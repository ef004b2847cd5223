// Records with known differences.
#include "core/compare/difference.h"

#include "tests/catch.h"
#include "tests/core/compare/scene.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("a record does not differ from itself") {
  const CompareScene scene;
  const Record record = scene.record();
  const Difference same = difference(scene.recorded(record), scene.recorded(record), 10);
  CHECK(same.ops.empty());
  CHECK(same.a.iteration == same.b.iteration);
  for (const ClassDifference& one : same.classes) {
    CHECK(one.errors.ops == one.ops);
    CHECK(one.errors.worst == 0.0);
  }
}

TEST_CASE("stages report how long machines spend in them, and how long ops run and queue") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  // In the second iteration x arrives 100 ns later at its receiver, and overlaps y.
  b.of(scene.receive_x, 1).completed = b.of(scene.receive_x, 1).completed + 100_ns;
  const Difference found = difference(scene.recorded(a, 1), scene.recorded(b, 1), 10);
  REQUIRE(found.stages.size() == 4);
  CHECK(found.stages[0].stage == Stage::kBackward);
  CHECK(found.stages[2].stage == Stage::kSum);
  CHECK(found.stages[3].stage == Stage::kForward);
  const StageDifference& messages = found.stages[1];
  CHECK(messages.stage == Stage::kMessages);
  CHECK(messages.ops == 2);
  CHECK(messages.a.busy == 400_ns);  // from 110 to 510
  CHECK(messages.b.busy == 400_ns);
  CHECK(messages.a.mean == 200_ns);
  CHECK(messages.b.mean == 250_ns);
  CHECK(messages.a.queueing == 110_ns);  // 10 and 210
}

TEST_CASE("ops that differ most come first, by their means over measured iterations") {
  const CompareScene scene;
  const Record b = scene.record();
  Record a = b;
  a.of(scene.forward, 0).completed = a.of(scene.forward, 0).completed + 500_ns;  // warm-up
  a.of(scene.sum_x, 1).completed = a.of(scene.sum_x, 1).completed + 25_ns;
  a.of(scene.backward, 1).completed = a.of(scene.backward, 1).completed + 40_ns;
  const Difference found = difference(scene.recorded(a, 1), scene.recorded(b, 1), 10);
  REQUIRE(found.ops.size() == 2);
  CHECK(found.ops[0].op == scene.backward);
  CHECK(found.ops[0].a == 140_ns);
  CHECK(found.ops[0].b == 100_ns);
  CHECK(found.ops[1].op == scene.sum_x);
  CHECK(difference(scene.recorded(a, 1), scene.recorded(b, 1), 1).ops.size() == 1);
}

TEST_CASE("errors of single ops are reported by class") {
  const CompareScene scene;
  const Record b = scene.record();
  Record a = b;
  a.of(scene.sum_x, 1).completed = a.of(scene.sum_x, 1).completed + 25_ns;  // 75 ns instead of 50
  a.of(scene.sum_y, 1).started = a.of(scene.sum_y, 1).started + 30_ns;      // 20 ns instead of 50
  const Difference found = difference(scene.recorded(a, 1), scene.recorded(b, 1), 10);
  const auto sums = std::find_if(found.classes.begin(), found.classes.end(),
                                 [](const ClassDifference& one) { return one.name == "sum gpu"; });
  REQUIRE(sums != found.classes.end());
  CHECK(sums->errors.ops == 2);
  CHECK(sums->errors.tenth == Approx(-0.6));
  CHECK(sums->errors.median == Approx(-0.6));
  CHECK(sums->errors.ninetieth == Approx(0.5));
  CHECK(sums->errors.worst == Approx(-0.6));
  const auto sends = std::find_if(found.classes.begin(), found.classes.end(),
                                  [](const ClassDifference& one) { return one.name == "send gpu to gpu"; });
  CHECK(sends != found.classes.end());
}

TEST_CASE("an op that takes time only in the first record has no error") {
  const CompareScene scene;
  const Record a = scene.record();
  Record b = a;
  for (int i = 0; i < 2; ++i) b.of(scene.sum_x, i).completed = b.of(scene.sum_x, i).started;
  const Difference found = difference(scene.recorded(a), scene.recorded(b), 10);
  for (const ClassDifference& one : found.classes) {
    if (one.name == "sum gpu") CHECK((one.ops == 2 && one.errors.ops == 1));
  }
  CHECK(!relative_error(1_ns, 0_ns));
  CHECK(relative_error(0_ns, 0_ns) == 0.0);
  CHECK(relative_error(1_ns, 2_ns) == -0.5);
}

}  // namespace
}  // namespace weir
