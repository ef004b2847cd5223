#include "core/plan/op_kind.h"

#include <set>

#include "core/plan/op.h"
#include "tests/catch.h"

using namespace weir;

TEST_CASE("every kind of op has a row of answers that agree with each other", "[plan]") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < op_kinds::kTable.size(); ++i) {
    const auto kind = static_cast<OpKind>(i);
    CAPTURE(name(kind));
    CHECK(names.insert(name(kind)).second);
    CHECK(is_message(kind) == (meets(kind) == Meets::kOtherEnd));
    CHECK(is_message(kind) == !peer_word(kind).empty());
    // Delays and control ops, and no others, neither read nor write.
    CHECK((is_delay(kind) || is_control(kind)) == (!reads_from(kind) && !writes_into(kind)));
    if (is_control(kind)) CHECK(!asks(kind));
    if (is_compute(kind)) CHECK(makes_gradients(kind) != takes_sums(kind));
    if (traits(kind).adds_up || traits(kind).rooted) CHECK(is_collective(kind));
    // A collective works in place. Only messages wait within a window, on the machine that sends them.
    if (is_collective(kind)) CHECK((!reads_from(kind) && writes_into(kind)));
    CHECK((served(kind) == Serving::kWithinWindow) == (is_message(kind) && reads_from(kind)));
  }
  CHECK(names.size() == 15);
}

TEST_CASE("the main slice of an op is what it writes, or else what it reads", "[plan]") {
  Op op;
  op.from.size = Bytes(1);
  op.into.size = Bytes(2);
  const auto size_of = [&](OpKind kind) {
    op.kind = kind;
    return main_slice(op).size;
  };
  CHECK(size_of(OpKind::kSend) == Bytes(1));
  CHECK(size_of(OpKind::kForward) == Bytes(1));
  CHECK(size_of(OpKind::kReceive) == Bytes(2));
  CHECK(size_of(OpKind::kSum) == Bytes(2));
  CHECK(size_of(OpKind::kReduce) == Bytes(2));
}
