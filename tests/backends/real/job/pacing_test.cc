#include "backends/real/job/pacing.h"

#include <sys/socket.h>

#include <optional>

#include "backends/real/transport/wires.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

using namespace weir::literals;

// Three machines with NICs of 1 GB/s.
const Cluster& three() {
  static const Cluster cluster = cluster_of(R"({"name": "three", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  return cluster;
}

struct Message {
  OpId send;
  OpId receive;
};

Message message(PlanBuilder& builder, std::size_t from, std::size_t into, Bytes size) {
  Op op;
  op.kind = OpKind::kSend;
  op.machine = MachineId(from);
  op.peer = MachineId(into);
  op.message = builder.add_message();
  op.from = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
             size};
  const OpId send = builder.add(op);
  std::swap(op.machine, op.peer);
  op.kind = OpKind::kReceive;
  op.into = {builder.add({op.machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size}), 0, 0_B,
             size};
  op.from = {};
  return {send, builder.add(op)};
}

Paces paces_of(PlanBuilder builder) {
  const Plan plan = std::move(builder).build();
  return paces(plan, three(), WorkTable(plan, three()));
}

TEST_CASE("a pace slows a plan down by as much as links are faster than the pace") {
  PlanBuilder builder("by hand", 3);
  for (int i = 0; i < 10; ++i) message(builder, 0, 1, 200_KB);
  const Plan plan = std::move(builder).build();
  const Cluster faster = cluster_of(R"({"name": "three", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})");
  CHECK(held_back(plan, three(), 0.5, three()) == 2.0);
  CHECK(held_back(plan, three(), 0.5, faster) == 20.0);
  CHECK(held_back(plan, three(), 1.02, three()) == 1.0);
}

TEST_CASE("a plan that is not paced is not slowed down") {
  PlanBuilder builder("by hand", 3);
  message(builder, 0, 1, 200_KB);
  message(builder, 0, 2, 200_KB);
  const Plan plan = std::move(builder).build();
  REQUIRE(paces(plan, three(), WorkTable(plan, three()))[0].empty());
  CHECK(held_back(plan, three(), 0.5, three()) == 1.0);
}

TEST_CASE("rates to peers are in proportion to their bytes, and fill the busiest link") {
  PlanBuilder builder("by hand", 3);
  for (int i = 0; i < 10; ++i) {
    message(builder, 0, 1, 200_KB);
    message(builder, 0, 2, 100_KB);  // machine 0 sends for 3 ms, the longest of all links
    message(builder, 1, 0, 100_KB);
  }
  const Paces rates = paces_of(std::move(builder));
  CHECK(rates[0].at({MachineId(1)}).value() == 666'666'667);
  CHECK(rates[0].at({MachineId(2)}).value() == 333'333'333);
  CHECK(rates[1].at({MachineId(0)}).value() == 333'333'333);
  CHECK(rates[2].empty());
}

TEST_CASE("a ring is paced to its links, because that delays nothing") {
  PlanBuilder builder("by hand", 3);
  const Message first = message(builder, 0, 1, 1_MB);
  const Message second = message(builder, 1, 2, 1_MB);
  builder.order(first.receive, second.send);
  builder.order(second.receive, message(builder, 2, 0, 1_MB).send);
  const Paces rates = paces_of(std::move(builder));
  for (std::size_t m = 0; m < 3; ++m) CHECK(rates[m].at({MachineId((m + 1) % 3)}).value() == 1'000'000'000);
}

TEST_CASE("a plan that waits for large messages is not paced") {
  PlanBuilder builder("by hand", 3);
  message(builder, 0, 1, 2_MB);
  message(builder, 0, 2, 1_MB);
  for (const auto& of_one : paces_of(std::move(builder))) CHECK(of_one.empty());
}

TEST_CASE("a plan that waits for one message after the other is not paced") {
  PlanBuilder builder("by hand", 3);
  std::optional<Message> before;
  for (int i = 0; i < 10; ++i) {  // there and back: 2 ms; 6 ms at a third of the rate
    const Message there = message(builder, 0, 1, 100_KB);
    if (before) builder.order(before->receive, there.send);
    before = message(builder, 1, 0, 100_KB);
    builder.order(there.receive, before->send);
    message(builder, 0, 2, 200_KB);
  }
  for (const auto& of_one : paces_of(std::move(builder))) CHECK(of_one.empty());
}

TEST_CASE("a plan that needs each message soon is not paced") {
  PlanBuilder builder("by hand", 3);
  for (int i = 0; i < 10; ++i) message(builder, 0, 1, 200_KB);
  builder.do_not_pace();
  for (const auto& of_one : paces_of(std::move(builder))) CHECK(of_one.empty());
}

class NamedMedium final : public Medium {
 public:
  explicit NamedMedium(std::string_view wire) : wire_(wire) {}
  std::string_view wire() const override { return wire_; }

 private:
  std::string_view wire_;
};

// A channel of machine 0. Nothing is at the other end of its data connection.
Channel channel_to(std::size_t peer, int index, std::string_view wire = "tcp") {
  Channel channel;
  channel.lane.peer = MachineId(peer);
  channel.index = channel.place = index;
  channel.data = Stream(Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  channel.medium = std::make_unique<NamedMedium>(wire);
  return channel;
}

unsigned long kernels_pace(const Channel& channel) {
  unsigned long rate = 0;
  socklen_t size = sizeof rate;
  REQUIRE(::getsockopt(channel.data.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &size) == 0);
  return rate;
}

TEST_CASE("the kernel paces a single slow connection; Weir paces all others, those of a lane together") {
  std::vector<Channel> channels;
  channels.push_back(channel_to(1, 0));
  channels.push_back(channel_to(2, 0));
  channels.push_back(channel_to(3, 0));
  channels.push_back(channel_to(3, 1));
  const unsigned long free = kernels_pace(channels[3]);
  const std::map<Lane, BytesPerSecond> rates = {{{MachineId(1)}, BytesPerSecond(100'000'000)},
                                                {{MachineId(2)}, BytesPerSecond(1'000'000'000)},
                                                {{MachineId(3)}, BytesPerSecond(100'000'000)}};
  pace(channels, rates, 1.5);
  CHECK(kernels_pace(channels[0]) == 150'000'000);
  CHECK(channels[0].pace == nullptr);
  CHECK(channels[1].pace != nullptr);
  CHECK(channels[2].pace != nullptr);
  CHECK(channels[3].pace == channels[2].pace);
  for (std::size_t i = 1; i < channels.size(); ++i) CHECK(kernels_pace(channels[i]) == free);
}

TEST_CASE("only wires that send over data connections are paced") {
  for (const Wire& wire : wires()) {
    std::vector<Channel> channels;
    for (const int index : {0, 1}) channels.push_back(channel_to(1, index, wire.name));
    const std::map<Lane, BytesPerSecond> rates = {{{MachineId(1)}, BytesPerSecond(100'000'000)}};
    pace(channels, rates, 1.0);
    for (const Channel& channel : channels) CHECK((channel.pace != nullptr) == wire.traits.paced);
  }
}

TEST_CASE("a lane has as many connections as keep threads evenly busy, or one with its own pace") {
  PlanBuilder builder("by hand", 3);
  message(builder, 0, 1, 1_MB);
  message(builder, 1, 0, 1_MB);
  const Plan plan = std::move(builder).build();
  CHECK(channels_for(plan, three(), 1, 0) == 1);
  CHECK(channels_for(plan, three(), 2, 0) == 4);
  CHECK(channels_for(plan, three(), 4, 0) == 4);
  CHECK(channels_for(plan, three(), 4, 1.02) == 4);  // 1 GB/s
  CHECK(channels_for(plan, three(), 4, 0.4) == 1);   // a pace of 0.4 GB/s
  PlanBuilder all("by hand", 3);
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t into = 0; into < 3; ++into) {
      if (from != into) message(all, from, into, 1_MB);
    }
  }
  const Plan exchange = std::move(all).build();
  CHECK(channels_for(exchange, three(), 3, 0) == 3);
}

TEST_CASE("a lane has one connection where large messages cannot be paced") {
  PlanBuilder builder("by hand", 3);
  message(builder, 0, 1, 9_MB);
  message(builder, 1, 0, 9_MB);
  PlanBuilder several("by hand", 3);
  PlanBuilder small("by hand", 3);
  for (std::size_t from = 0; from < 3; ++from) {
    message(several, from, (from + 1) % 3, 9_MB);
    message(several, from, (from + 2) % 3, 9_MB);
    message(small, from, (from + 1) % 3, 8_MB);
    message(small, from, (from + 2) % 3, 8_MB);
  }
  const Plan plan = std::move(several).build();
  CHECK(channels_for(plan, three(), 4, 1.02) == 1);
  CHECK(channels_for(plan, three(), 4, 0) == 4);
  const Plan of_small = std::move(small).build();
  const Plan of_one_lane = std::move(builder).build();
  CHECK(channels_for(of_small, three(), 4, 1.02) == 4);
  CHECK(channels_for(of_one_lane, three(), 4, 1.02) == 4);
}

}  // namespace
}  // namespace weir::real
