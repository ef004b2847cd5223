// Bytes of messages, as they lie in memory after they moved.
#include <cstring>

#include "tests/backends/real/echo.h"
#include "tests/backends/real/world.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

std::byte pattern(std::size_t i) { return static_cast<std::byte>((i * 31 + i / 251) & 0xff); }

std::span<std::byte> whole(ThreadWorld& world, const Plan& plan) {
  return world.buffers(MachineId(0)).bytes(Extent{BufferId(0), 0, {Bytes(0), plan.buffer(BufferId(0)).size}});
}

void check_echo(const std::vector<Bytes>& sizes, Bytes window, int iterations) {
  const Echo echo(sizes);
  ThreadWorld world(*echo.plan, pair());
  const auto bytes = whole(world, *echo.plan);
  for (std::size_t i = 0; i < echo.half; ++i) bytes[i] = pattern(i);
  for (const auto& [channels, shared_memory] : {std::pair(1, false), {2, false}, {1, true}, {2, true}}) {
    std::memset(&bytes[echo.half], 0, echo.half);
    ThreadWorld::Settings settings;
    settings.channels = channels;
    settings.shared_memory = shared_memory;
    const auto record = world.run({Policy::kPriority, window}, iterations, settings);
    INFO((record ? std::string() : record.error().text));
    REQUIRE(record);
    CHECK(std::memcmp(bytes.data(), &bytes[echo.half], echo.half) == 0);
  }
}

TEST_CASE("messages of all sizes arrive whole, at every window") {
  const std::vector<Bytes> sizes = {0_B, 1_B, 2_B, 3_B, 4095_B, 4096_B, 4097_B, 999'999_B, 4_MiB, 1_B, 0_B};
  for (const Bytes window : {0_B, 1_B, 5000_B, 100_MB}) check_echo(sizes, window, 3);
}

TEST_CASE("a run that is stopped says why") {
  const Echo echo({1_MiB});
  ThreadWorld world(*echo.plan, pair());
  ThreadWorld::Settings settings;
  settings.drive.tick = []() -> Result<void> { return failure("it was stopped"); };
  const auto record = world.run({Policy::kFifo, 1_MB}, 1'000'000, settings);
  REQUIRE_FALSE(record);
  CHECK(record.error().text == "it was stopped");
}

}  // namespace
}  // namespace weir::real
