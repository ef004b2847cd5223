// The contract of ports on machines that use GPUs.
#include "backends/real/memory/pages.h"
#include "tests/backends/real/trial.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("nodes with GPUs keep the contract of ports", "[gpu]") {
  const auto count = gpu_count();
  REQUIRE(count);
  const Wire* const wire = GENERATE(from_range(wires_of_any_host()));  // a loop would run each section once
  conformance::World world;
  world.name = fmt::format("GPUs, {}", wire->name);
  world.exact = false;
  world.room = available_memory() / 2;
  world.gpus = std::max(1, *count / 2);
  ThreadWorld::Settings how;
  how.gpus = true;
  how.choice = choice_of(wire->name);
  world.run = [how](const conformance::Trial& trial) { return run_trial(trial, how); };
  conformance::check_port(world);
}

}  // namespace
}  // namespace weir::real
