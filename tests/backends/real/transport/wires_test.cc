// The table of wires: the rules for every row, and which wire a channel gets.
#include "backends/real/transport/wires.h"

#include <array>
#include <functional>
#include <set>
#include <thread>

#include "tests/backends/real/world.h"
#include "tests/catch.h"
#include "tests/conformance/echo.h"

namespace weir::real {
namespace {

const std::string kHere = "127.0.0.1";

TEST_CASE("each wire has a name of its own, which users can choose beside auto") {
  std::set<std::string_view> names = {"auto"};
  std::vector<std::string_view> chosen;
  for (const auto& named : enum_names(TransportChoice::kAuto)) chosen.push_back(named.name);
  REQUIRE(chosen.size() == wires().size() + 1);
  for (std::size_t i = 0; i < wires().size(); ++i) {
    const Wire& wire = wires()[i];
    CHECK(names.insert(wire.name).second);
    CHECK(chosen[i] == wire.name);
    CHECK(find_wire(wire.name) == &wire);
    CHECK(only_wire(choice_of(wire.name)) == &wire);
    CHECK(enum_name(choice_of(wire.name)) == wire.name);
  }
  CHECK(chosen.back() == "auto");
  CHECK(only_wire(TransportChoice::kAuto) == nullptr);
  CHECK(find_wire("auto") == nullptr);
  CHECK(find_wire("") == nullptr);
}

// These names appear in job files, on command lines and in programs that use the C library.
TEST_CASE("the wires keep the names that users have written down, and their meaning") {
  CHECK(enum_name(TransportChoice::kTcp) == "tcp");
  for (const char* name : {"shm", "rdma"}) CHECK(find_wire(name) != nullptr);
  CHECK_FALSE(shares_memory(TransportChoice::kTcp));
  CHECK(shares_memory(choice_of("shm")));
  CHECK_FALSE(shares_memory(choice_of("rdma")));
  CHECK(shares_memory(TransportChoice::kAuto));
  CHECK_FALSE(may_use_devices(choice_of("shm")));
  CHECK(may_use_devices(choice_of("rdma")));
  CHECK(may_use_devices(TransportChoice::kAuto));
}

TEST_CASE("the first wire is for any two machines, and every wire of any host is available here") {
  CHECK_FALSE(wires().front().traits.within_host);
  for (const Wire* wire : wires_of_any_host()) CHECK(wire->available(kHere));
}

TEST_CASE("a wire over devices says why a host without a device at that address cannot use it") {
  for (const Wire* wire : wires_over_devices()) {
    const auto can = wire->available(kHere);
    REQUIRE_FALSE(can);
    CHECK_FALSE(can.error().text.empty());
  }
}

TEST_CASE("the wire that is chosen joins all channels of machines that can use it") {
  const conformance::Echo echo({Bytes(1), Bytes(4097)});
  for (const Wire* wire : wires_of_any_host()) {
    ThreadWorld world(*echo.plan, conformance::pair());
    ThreadWorld::Settings how;
    how.choice = choice_of(wire->name);
    how.channels = 2;
    REQUIRE(world.run({Policy::kPriority, Bytes(1 << 20)}, 1, how));
    CHECK(world.wires() == std::set<std::string>{std::string(wire->name)});
  }
}

TEST_CASE("machines of one host that may use every wire share memory") {
  const conformance::Echo echo({Bytes(4097)});
  ThreadWorld world(*echo.plan, conformance::pair());
  ThreadWorld::Settings how;
  how.choice = TransportChoice::kAuto;
  REQUIRE(world.run({Policy::kPriority, Bytes(1 << 20)}, 1, how));
  CHECK(world.wires() == std::set<std::string>{"shm"});
}

using Join = std::function<Result<Refusals>(std::vector<Channel>&, const Joining&)>;

// Two machines that meet at TCP addresses. They have no shared memory and no device.
class Two {
 public:
  Two() {
    meeting_.addresses.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
      listeners_.at(i) = std::move(listen_at({kHere, 0}).value());
      meeting_.addresses[i] = {listening_at(listeners_.at(i))};
    }
    meeting_.channels = 2;
    meeting_.patience = Duration(5'000'000'000);
  }

  void seal() { meeting_.sealed = true; }

  struct End {
    Result<Refusals> refusals;
    std::vector<std::string> wires;  // of its channels
  };

  std::array<End, 2> join(const Join& how) {
    std::array<End, 2> ends;
    std::thread other([&] { ends[1] = join_one(1, how); });
    ends[0] = join_one(0, how);
    other.join();
    return ends;
  }

 private:
  End join_one(std::size_t self, const Join& how) {
    const auto buffers = std::move(Buffers::make(*echo_.plan, MachineId(self)).value());
    Meeting own = meeting_;
    own.self = MachineId(self);
    own.lanes = lanes_of(*echo_.plan, own.self);
    auto channels = std::move(meet(own, {&listeners_.at(self), 1}).value());
    End end{how(channels, {own, *echo_.plan, *buffers, {}}), {}};
    for (const Channel& channel : channels)
      end.wires.emplace_back(channel.medium == nullptr ? "none" : channel.medium->wire());
    return end;
  }

  conformance::Echo echo_{{Bytes(4097)}};
  std::array<Descriptor, 2> listeners_;
  Meeting meeting_;
};

Join by(const Wire& wire, Use use) {
  return [&wire, use](std::vector<Channel>& channels, const Joining& joining) {
    return wire.join(channels, joining, use);
  };
}

Join as(TransportChoice choice) {
  return [choice](std::vector<Channel>& channels, const Joining& joining) {
    return join(channels, joining, choice);
  };
}

const std::vector<std::string> kNone = {"none", "none"};
const std::vector<std::string> kFirst(2, std::string(wires().front().name));

TEST_CASE("whatever is chosen, both ends take the same wire or both fail") {
  for (const auto& named : enum_names(TransportChoice::kAuto)) {
    INFO(named.name);
    const auto ends = Two().join(as(named.value));
    CHECK(ends[0].wires == ends[1].wires);
    CHECK(ends[0].refusals.has_value() == ends[1].refusals.has_value());
    if (ends[0].refusals) CHECK(ends[0].wires != kNone);
  }
}

TEST_CASE("a wire over devices leaves lanes without them to others, and says why") {
  for (const Wire* wire : wires_over_devices()) {
    for (const Two::End& end : Two().join(by(*wire, Use::kIfPossible))) {
      CHECK(end.wires == kNone);
      REQUIRE(end.refusals);
      REQUIRE(end.refusals->size() == 1);  // one lane, with two channels
      CHECK_FALSE(end.refusals->begin()->second.empty());
    }
  }
}

TEST_CASE("a required wire over devices fails where there are none, and names the peer") {
  for (const Wire* wire : wires_over_devices()) {
    for (const Two::End& end : Two().join(as(choice_of(wire->name)))) {
      REQUIRE_FALSE(end.refusals);
      CHECK_THAT(end.refusals.error().text, has_text("machine ") && has_text(kHere));
    }
  }
}

TEST_CASE("no wire over devices takes sealed channels") {
  for (const Wire* wire : wires_over_devices()) {
    Two two;
    two.seal();
    for (const Two::End& end : two.join(by(*wire, Use::kIfPossible))) {
      CHECK(end.wires == kNone);
      REQUIRE(end.refusals);
      CHECK(end.refusals->empty());
    }
  }
}

TEST_CASE("a wire within a host leaves machines of other hosts to the first") {
  for (const Wire& wire : wires()) {
    if (!wire.traits.within_host) continue;
    for (const Two::End& end : Two().join(as(choice_of(wire.name)))) {
      CHECK(end.wires == kFirst);
      REQUIRE(end.refusals);
      CHECK(end.refusals->empty());
    }
  }
}

}  // namespace
}  // namespace weir::real
