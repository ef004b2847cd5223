// Gradients with known sums, and the detection of wrong sums.
#include "backends/real/compute/gradients.h"

#include <fmt/format.h>

#include "core/experiment/planned_run.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr std::int64_t kElements = 1000;

std::unique_ptr<PlannedRun> alone(const std::string& tensors) {
  const std::string text = R"({"topology": {"name": "one", "groups": [{"name": "gpu", "count": 1,
      "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
    "trace": {"name": "net", "layers": [{"name": "a", "forward": "1ms", "backward": "1ms", "tensors": [)" +
                           tensors + R"(]}]}, "strategies": ["unified"], "baseline": "unified"})";
  auto made = plan_run(text, "unified", "test");
  INFO((made ? std::string() : made.error().text));
  REQUIRE(made);
  return std::move(*made);
}

const Op& op_of(const Plan& plan, OpKind kind) {
  for (const Op& op : plan.ops()) {
    if (op.kind == kind && op.layer == 0) return op;
  }
  FAIL("the plan has no such op");
  return plan.ops().front();
}

TEST_CASE("a single wrong element of a sum is found and named, wherever it is") {
  const auto job = alone(R"({"name": "w", "elements": 1000})");
  const auto buffers = Buffers::make(job->plan, MachineId(0));
  REQUIRE(buffers);
  const Op& backward = op_of(job->plan, OpKind::kBackward);
  const Op& forward = op_of(job->plan, OpKind::kForward);
  for (const std::int64_t element : {std::int64_t{0}, std::int64_t{517}, kElements - 1}) {
    Gradients gradients(job->plan, job->workload, **buffers);
    gradients.compute(backward, 0);
    gradients.compute(forward, 0);
    CHECK(gradients.checked() == kElements);
    CHECK(gradients.wrong().empty());
    const Extent extent{forward.from.buffer, 0, {Bytes(4 * element), Bytes(4)}};
    (*buffers)->bytes(extent)[1] ^= std::byte{1};
    gradients.compute(forward, 0);
    CHECK(gradients.checked() == 2 * kElements);
    const std::string where =
        fmt::format("element {} of 'w' of layer 'a' on machine 0, GPU 0, iteration 0 is ", element);
    CHECK_THAT(gradients.wrong(), has_text(where));
  }
}

TEST_CASE("elements of tensors are counted, gaps between tensors are not") {
  const auto job = alone(
      R"({"name": "odd", "elements": 7, "dtype": "f16"}, {"name": "w", "elements": 10, "dtype": "f64"})");
  const auto buffers = Buffers::make(job->plan, MachineId(0));
  REQUIRE(buffers);
  Gradients gradients(job->plan, job->workload, **buffers);
  gradients.compute(op_of(job->plan, OpKind::kBackward), 0);
  gradients.compute(op_of(job->plan, OpKind::kForward), 0);
  CHECK(gradients.wrong().empty());
  CHECK(gradients.checked() == 17);
}

}  // namespace
}  // namespace weir::real
