// Messages larger than system calls, 32-bit sizes and 32-bit offsets reach.
#include <cstring>

#include "backends/real/pages.h"
#include "tests/backends/real/echo.h"
#include "tests/backends/real/world.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

std::span<std::byte> bytes_of(ThreadWorld& world, std::size_t machine, Bytes size) {
  return world.buffers(MachineId(machine)).bytes(Extent{BufferId(machine), 0, {Bytes(0), size}});
}

// One message, and one of a few bytes behind it, whose offset no 32 bits hold if the first is large.
void check_whole(Bytes large, bool shared_memory) {
  constexpr Bytes kSmall{6};
  const Bytes size = large + kSmall;
  if (available_memory() < size * 2 + 2_GB) {
    WARN("this host has no memory for two buffers of " << size.count() << " bytes: nothing was tested");
    return;
  }
  PlanBuilder builder("large", 2);
  const BufferId here = builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  const BufferId there = builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  message(builder, 0, {here, 0, Bytes(0), large}, {there, 0, Bytes(0), large});
  message(builder, 0, {here, 0, large, kSmall}, {there, 0, large, kSmall});
  const Plan plan = std::move(builder).build();
  ThreadWorld world(plan, pair());
  const auto source = bytes_of(world, 0, size);
  constexpr std::size_t kStride = 4099;
  for (std::size_t i = 0; i < source.size(); i += kStride)
    source[i] = static_cast<std::byte>(i / kStride + 1);
  source.back() = std::byte{42};
  ThreadWorld::Settings settings;
  settings.shared_memory = shared_memory;
  settings.channels = 2;
  const auto record = world.run({Policy::kPriority, 1_B}, 1, settings);
  INFO((record ? std::string() : record.error().text));
  REQUIRE(record);
  CHECK(std::memcmp(source.data(), bytes_of(world, 1, size).data(), source.size()) == 0);
}

TEST_CASE("a message may be larger than what one system call moves") {
  for (const bool shared_memory : {false, true}) check_whole(1_MiB * 3072, shared_memory);
}

TEST_CASE("a message may be larger than 32 bits say, and lie where they do not reach") {
  for (const bool shared_memory : {false, true}) check_whole(5_GB, shared_memory);
}

}  // namespace
}  // namespace weir::real
