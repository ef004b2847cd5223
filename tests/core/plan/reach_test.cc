// Compares the search for order with everything that follows from the contract of ports, in random plans.
#include "core/plan/reach.h"

#include "tests/catch.h"
#include "tests/core/plan/random_plan.h"

namespace weir {

TEST_CASE("the search finds an order exactly where the contract implies one", "[plan][reach]") {
  std::size_t found = 0;
  std::size_t missing = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Plan plan = examples::random_plan(Random(seed), 5 + seed / 2, 12);
    const Result<Order> order = Order::of(plan);
    REQUIRE(order);
    Reach reach(plan, *order);
    const examples::Closure closure(plan);
    bool same = true;
    for (const Op& a : plan.ops()) {
      for (const Op& b : plan.ops()) {
        const End end = order->end(a.id);
        const std::uint32_t event = order->position(b.id);
        same = same && reach.joined(end, event) == closure.ordered(a.id, b.id, false) &&
               reach.joined_next(end, event) == closure.ordered(a.id, b.id, true);
        ++(closure.ordered(a.id, b.id, true) ? found : missing);
      }
    }
    INFO("seed " << seed);
    REQUIRE(same);
  }
  REQUIRE(found > 1000);
  REQUIRE(missing > 1000);
}

TEST_CASE("the ends of a message are one event, and its sequence respects every edge", "[plan][order]") {
  const Plan plan = examples::random_plan(Random(7), 30, 12);
  const Result<Order> order = Order::of(plan);
  REQUIRE(order);
  REQUIRE(order->events() == plan.ops().size() - plan.messages().size());
  for (const MessageEnds& ends : plan.messages()) {
    REQUIRE(order->position(ends.send) == order->position(ends.receive));
  }
  for (const Op& op : plan.ops()) {
    for (const Successor successor : plan.successors(op.id)) {
      if (successor.carried == 0) REQUIRE(order->position(op.id) < order->position(successor.id()));
    }
  }
}

}  // namespace weir
