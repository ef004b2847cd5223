// Runs that end before their plan is complete.
#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/echo.h"

namespace weir::real {
namespace {

using conformance::Echo;
using conformance::pair;

using namespace weir::literals;

TEST_CASE("a run that is stopped says why") {
  const Echo echo({1_MiB});
  ThreadWorld world(*echo.plan, pair());
  ThreadWorld::Settings settings;
  settings.drive.tick = []() -> Result<void> { return failure("it was stopped"); };
  const auto record = world.run({Policy::kFifo, 1_MB}, 1'000'000, settings);
  REQUIRE_FALSE(record);
  CHECK(record.error().text == "it was stopped");
}

TEST_CASE("a machine that begins long after its peers is not taken for lost") {
  const Echo echo({1_MiB});
  ThreadWorld world(*echo.plan, pair());
  ThreadWorld::Settings settings;
  settings.late = settings.transport.silence + Duration(2'000'000'000);
  settings.drive.patience = settings.late + Duration(10'000'000'000);
  const auto record = world.run({Policy::kFifo, 1_MB}, 2, settings);
  INFO((record ? std::string() : record.error().text));
  CHECK(record);
}

}  // namespace
}  // namespace weir::real
