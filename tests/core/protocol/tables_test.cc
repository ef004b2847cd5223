// The tables by which a session's leader compares what ranks declare and hand over.
#include "core/protocol/round_table.h"
#include "core/protocol/tensor_table.h"
#include "tests/catch.h"

namespace weir {
namespace {

TensorNote tensor(const std::string& name, std::int64_t elements, std::vector<int> ranks = {}) {
  TensorNote note;
  note.name = name;
  note.elements = elements;
  note.ranks = std::move(ranks);
  return note;
}

TEST_CASE("RoundTable asks all ranks to report a label from the earliest round that may differ") {
  RoundTable table;
  CHECK(table.take(0, {"x", 5, "a", "a"}, 2).watch);
  CHECK_FALSE(table.take(0, {"x", 6, "a", "a"}, 2).watch);
  CHECK(table.take(1, {"x", 3, "a", "a"}, 2).watch);
  CHECK_FALSE(table.take(0, {"", 0, "a", "a"}, 2).watch);  // rounds without a name are always reported
}

TEST_CASE("RoundTable reports once for each label that ranks disagree") {
  RoundTable table;
  CHECK(table.take(0, {"x", 0, "a", "10 elements"}, 2).wrong.empty());
  CHECK(table.take(1, {"x", 0, "b", "11 elements"}, 2).wrong ==
        "rank 0 has 10 elements, but rank 1 has 11 elements");
  CHECK(table.take(1, {"x", 1, "b", "11 elements"}, 2).wrong.empty());
  CHECK(table.take(0, {"x", 1, "a", "10 elements"}, 2).wrong.empty());
}

TEST_CASE("TensorTable opens tensors once all their ranks have declared them") {
  TensorTable table(3);
  CHECK(table.declare(0, {{tensor("a", 10), tensor("b", 20, {0, 2})}}).value().empty());
  CHECK_FALSE(table.next());
  CHECK(table.declare(2, {{tensor("a", 10), tensor("b", 20, {0, 2})}}).value().empty());
  CHECK_FALSE(table.next());  // tensors that were declared together are opened together
  CHECK(table.declare(1, {{tensor("a", 10)}}).value().empty());
  const auto of_all = table.next();
  const auto of_some = table.next();
  REQUIRE((of_all && of_some));
  CHECK(of_all->ranks.empty());
  CHECK(of_some->ranks == std::vector<int>{0, 2});
  CHECK_FALSE(table.next());
}

TEST_CASE("TensorTable refuses a tensor that differs, and all that were declared with it") {
  TensorTable table(2);
  CHECK(table.declare(0, {{tensor("a", 10), tensor("b", 20)}}).value().empty());
  const auto refused = table.declare(1, {{tensor("a", 11), tensor("b", 20)}});
  REQUIRE(refused);
  REQUIRE(refused->size() == 2);
  CHECK((*refused)[0].name == "a");
  CHECK((*refused)[0].why == "rank 0 has 10 elements of f32, but rank 1 has 11 elements of f32");
  CHECK((*refused)[1].name == "b");
  CHECK_FALSE(table.next());
}

TEST_CASE("TensorTable fails for tensors of ranks that do not exist or do not declare them") {
  TensorTable table(2);
  CHECK_FALSE(table.declare(0, {{tensor("a", 10, {0, 2})}}));
  CHECK_FALSE(table.declare(0, {{tensor("a", 10, {1})}}));
}

}  // namespace
}  // namespace weir
