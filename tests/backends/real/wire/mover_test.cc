// What a channel accepts from its peer: only what the plan contains, in the round that waits for it.
#include "backends/real/wire/mover.h"

#include <cstring>

#include "core/base/random.h"
#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/echo.h"

namespace weir::real {
namespace {

using conformance::Echo;
using conformance::message;
using conformance::pair;

using namespace weir::literals;

Frame data(std::size_t message, std::uint64_t round, Bytes size) {
  return {Frame::Kind::kData, MessageId(message), round, size, Duration(0)};
}

// Receives message 0, of 5 GB.
Op large_receive() {
  Op op;
  op.kind = OpKind::kReceive;
  op.message = MessageId(0);
  op.into = {BufferId(0), 0, 6_GB, 5_GB};
  return op;
}

TEST_CASE("a message of an unexpected round is refused") {
  const Op receive = large_receive();
  for (const std::uint64_t round : {0ULL, 2ULL, 3ULL, 1ULL + (1ULL << 32), ~0ULL}) {
    Expected expected;
    expected.add(receive, 1, 5_GB);
    const auto taken = expected.take(data(0, round, 5_GB));
    REQUIRE_FALSE(taken);
    CHECK_THAT(taken.error().text, has_text("which this machine does not expect"));
    CHECK(expected.take(data(0, 1, 5_GB)));
    CHECK_FALSE(expected.take(data(0, 1, 5_GB)));  // the second time
  }
}

TEST_CASE("a message whose size differs from the plan is refused, even if its low 32 bits agree") {
  const Op receive = large_receive();
  for (const Bytes size :
       {0_B, 4_GB, Bytes(5'000'000'000 - (1LL << 32)), Bytes(5'000'000'000 + (1LL << 32))}) {
    Expected expected;
    expected.add(receive, 0, 5_GB);
    const auto taken = expected.take(data(0, 0, size));
    REQUIRE_FALSE(taken);
    CHECK_THAT(taken.error().text, has_text("bytes as message 0; expected 5000000000"));
  }
}

TEST_CASE("words about unknown messages, or about those for others, are refused") {
  const Echo echo({1_MiB});
  Inbox inbox;
  Pieces pieces(echo.plan->messages().size());
  const MoverContext context = {echo.plan.get(), MachineId(0), nullptr, &inbox, &pieces};
  const auto ready = [](std::size_t message) {
    return Frame{Frame::Kind::kReady, MessageId(message), 0, Bytes(0), Duration(0)};
  };
  Rooms rooms;
  CHECK(rooms.take(context, MachineId(1), ready(0)));
  CHECK_FALSE(rooms.take(context, MachineId(1), ready(1)));  // which machine 1 itself sends
  CHECK_FALSE(rooms.take(context, MachineId(1), ready(2)));
  CHECK_FALSE(rooms.take(context, MachineId(1), ready(0xfffffffe)));
  CHECK_FALSE(rooms.take(context, MachineId(0), ready(0)));
  CHECK_FALSE(rooms.take(context, MachineId(1), data(0, 0, 1_MiB)));
}

TEST_CASE("a peer that offers room again and again is refused, and fills no memory") {
  const Echo echo({1_MiB});
  Inbox inbox;
  Pieces pieces(echo.plan->messages().size());
  const MoverContext context = {echo.plan.get(), MachineId(0), nullptr, &inbox, &pieces};
  const auto ready = [](std::uint64_t round) {
    return Frame{Frame::Kind::kReady, MessageId(0), round, Bytes(0), Duration(0)};
  };
  Rooms rooms;
  for (std::uint64_t round = 0; round < 3; ++round) {
    CHECK(rooms.take(context, MachineId(1), ready(round)));
    for (const std::uint64_t again : {round, round + 1}) {
      const auto taken = rooms.take(context, MachineId(1), ready(again));
      REQUIRE_FALSE(taken);
      CHECK_THAT(taken.error().text, has_text("it offered room for message 0 twice"));
    }
    rooms.start(MessageId(0));
  }
  std::vector<Event> events;
  inbox.take(events);
  CHECK(events.size() == 3);
}

// Machine 0 writes the iteration's number and sends it. Machine 1 receives it, and reads it at any later
// time.
Plan broadcast(Bytes size) {
  PlanBuilder builder("broadcast", 2);
  const BufferId here = builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  const BufferId there = builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  const auto [send, receive] = message(builder, 0, {here, 0, Bytes(0), size}, {there, 0, Bytes(0), size});
  Op op;
  op.layer = 0;
  op.kind = OpKind::kBackward;
  op.machine = MachineId(0);
  const OpId write = builder.add(op);
  op.kind = OpKind::kForward;
  op.machine = MachineId(1);
  const OpId read = builder.add(op);
  builder.order(write, send);
  builder.order(receive, read);
  builder.carry(send, write);
  builder.carry(read, receive);
  return std::move(builder).build();
}

// In BytePS, a worker that pulls late gets what its server holds by then: the sum of the next iteration.
TEST_CASE("a late reader gets the bytes of its own iteration") {
  const Bytes size = 300_KB;
  const Plan plan = broadcast(size);
  for (const Wire* wire : wires_of_any_host()) {
    ThreadWorld world(plan, pair());
    const auto bytes = [&](std::size_t machine) {
      return world.buffers(MachineId(machine)).bytes(Extent{BufferId(machine), 0, {Bytes(0), size}});
    };
    Random random(7);
    int wrong = 0;
    std::uint64_t reads = 0;
    ThreadWorld::Settings settings;
    settings.choice = choice_of(wire->name);
    settings.compute = [&](const Op& op, std::uint64_t iteration) {
      const auto value = static_cast<std::byte>(iteration + 1);
      if (op.kind == OpKind::kBackward) {
        std::memset(bytes(0).data(), static_cast<int>(value), bytes(0).size());
        return;
      }
      // Sometimes late by several iterations of the other machine, which would continue if it could.
      if (random.between(0, 3) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (const std::byte got : bytes(1)) wrong += got == value ? 0 : 1;
      ++reads;
    };
    const auto record = world.run({Policy::kFifo, 1_MB}, 100, settings);
    INFO((record ? std::string() : record.error().text));
    REQUIRE(record);
    CHECK(wrong == 0);
    CHECK(reads == 100);
  }
}

}  // namespace
}  // namespace weir::real
