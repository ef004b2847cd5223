// The table of wires: what each row must keep to, and which wire a channel gets.
#include "backends/real/transport/wires.h"

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

// Job files, command lines and programs that use the C library have these names.
TEST_CASE("the wires keep the names that users have written down, and what was chosen by them") {
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

// Two machines that meet at addresses of TCP, where no memory is shared and no device is.
class Two {
 public:
  explicit Two(bool sealed) {
    meeting_.addresses.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
      listeners_[i] = std::move(listen_at({kHere, 0}).value());
      meeting_.addresses[i] = {listening_at(listeners_[i])};
    }
    meeting_.channels = 2;
    meeting_.sealed = sealed;
    meeting_.patience = Duration(5'000'000'000);
  }

  struct End {
    Result<Refusals> refusals;
    std::vector<std::string> wires;
  };

  std::array<End, 2> join(TransportChoice choice) {
    std::array<End, 2> ends;
    std::thread other([&] { ends[1] = join_one(1, choice); });
    ends[0] = join_one(0, choice);
    other.join();
    return ends;
  }

 private:
  End join_one(std::size_t self, TransportChoice choice) {
    const auto buffers = std::move(Buffers::make(*echo_.plan, MachineId(self)).value());
    Meeting own = meeting_;
    own.self = MachineId(self);
    own.lanes = lanes_of(*echo_.plan, own.self);
    auto channels = std::move(meet(own, {&listeners_.at(self), 1}).value());
    End end{real::join(channels, {own, *echo_.plan, *buffers, {}}, choice), {}};
    for (const Channel& channel : channels)
      end.wires.emplace_back(channel.medium == nullptr ? "" : channel.medium->wire());
    return end;
  }

  conformance::Echo echo_{{Bytes(4097)}};
  std::array<Descriptor, 2> listeners_;
  Meeting meeting_;
};

TEST_CASE("channels that no other wire can join stay on the first, and it is told why") {
  for (const Two::End& end : Two(false).join(TransportChoice::kAuto)) {
    CHECK(end.wires == std::vector<std::string>(2, "tcp"));
    REQUIRE(end.refusals);
    REQUIRE(end.refusals->size() == 1);  // the lane
    for (const auto& [lane, why] : *end.refusals) CHECK_FALSE(why.empty());
  }
}

TEST_CASE("no wire over devices takes channels that are to be sealed") {
  for (const Two::End& end : Two(true).join(TransportChoice::kAuto)) {
    CHECK(end.wires == std::vector<std::string>(2, "tcp"));
    REQUIRE(end.refusals);
    CHECK(end.refusals->empty());
  }
}

TEST_CASE("a wire over devices that is to be used always fails where there are none") {
  for (const Wire* wire : wires_over_devices()) {
    for (const Two::End& end : Two(false).join(choice_of(wire->name))) {
      REQUIRE_FALSE(end.refusals);
      CHECK_THAT(end.refusals.error().text, has_text("machine "));
    }
  }
}

TEST_CASE("a wire within a host leaves machines of other hosts to the first") {
  for (const Wire& wire : wires()) {
    if (!wire.traits.within_host) continue;
    for (const Two::End& end : Two(false).join(choice_of(wire.name))) {
      CHECK(end.wires == std::vector<std::string>(2, "tcp"));
      REQUIRE(end.refusals);
      CHECK(end.refusals->empty());
    }
  }
}

}  // namespace
}  // namespace weir::real
