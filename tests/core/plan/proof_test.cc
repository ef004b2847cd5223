// Correct plans are proved. In other plans one thing is broken, and the message names it.
#include "core/plan/proof.h"

#include <array>

#include "tests/catch.h"
#include "tests/core/plan/examples.h"

namespace weir {
namespace {

using examples::AllReduce;
using examples::Local;
using examples::Server;
using examples::Shards;
using namespace literals;

// The proof's error for the example, or "proved".
template <class Example>
std::string complaint(const Example& example) {
  const Result<Proof> proof = examples::proof_of(example.plan());
  return proof ? "proved" : proof.error().text;
}

bool has(const std::string& text, std::string_view part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("right plans are proved, and the proof counts what it has checked", "[plan][proof]") {
  REQUIRE(complaint(AllReduce()) == "proved");
  REQUIRE(complaint(Server()) == "proved");
  REQUIRE(complaint(Local()) == "proved");
  REQUIRE(complaint(Shards()) == "proved");
  const Result<Proof> proof = examples::proof_of(AllReduce().plan());
  REQUIRE(proof->ops == 14);
  REQUIRE(proof->messages == 4);
  REQUIRE(proof->summed == 128_B);
  REQUIRE(proof->ordered == 20);
  REQUIRE(examples::proof_of(Local().plan())->summed == 40_B);
}

TEST_CASE("a dropped edge is a race", "[plan][proof]") {
  AllReduce plan;
  REQUIRE(plan.builder.remove_edge(plan.backward[0], plan.add[0]));
  REQUIRE(
      has(complaint(plan),
          "race: op 0 (backward on machine 0, layer 0) writes b0:0[0+32] and op 3 (sum on machine 0, layer "
          "0) sums "
          "into it, but neither waits for the other"));
}

TEST_CASE("an edge that rendezvous implies may be left out", "[plan][proof]") {
  AllReduce plan;
  // The peer sends its next raw half only after its forward, which waits for this machine's sum.
  REQUIRE(plan.builder.remove_edge(plan.add[0], plan.receive_raw[0]));
  REQUIRE(complaint(plan) == "proved");
  // The sum comes back only after the peer has received the raw half. But the send of that half may still
  // read its source.
  REQUIRE(plan.builder.remove_edge(plan.send_raw[0], plan.receive_sum[0]));
  REQUIRE(has(complaint(plan),
              "race: op 1 (send on machine 0 to 1, layer 0) reads b0:0[32+32] and op 5 (receive on machine 0 "
              "from 1, layer 0) writes it"));
}

TEST_CASE("a missing carried edge is a race with the next iteration", "[plan][proof]") {
  AllReduce plan;
  REQUIRE(plan.builder.remove_edge(plan.send_sum[0], plan.backward[0]));
  REQUIRE(has(complaint(plan),
              "race: op 4 (send on machine 0 to 1, layer 0) reads b0:0[0+32], and in the next iteration op 0 "
              "(backward "
              "on machine 0, layer 0) writes it without waiting for that; a carried edge is missing"));

  Server server;
  REQUIRE(server.builder.remove_edge(server.send[1][1], server.receive[0][1]));
  REQUIRE(
      has(complaint(server),
          "(send on machine 2 to 1, layer 1) reads b2[0+4096], and in the next iteration op 16 (receive on "
          "machine "
          "2 from 0, layer 1) writes it"));
}

TEST_CASE("a scratch slot that is reused too early is a race", "[plan][proof]") {
  Server plan;
  REQUIRE(plan.builder.remove_edge(plan.add[1], plan.receive[1][0]));
  REQUIRE(has(
      complaint(plan),
      "op 18 (sum on machine 2, layer 1) reads b3[0+4096] and op 22 (receive on machine 2 from 1, layer 0) "
      "writes it, but neither waits for the other"));
}

TEST_CASE("an update is ordered like a write, and takes the complete sum once", "[plan][proof]") {
  // The server updates the sums of some layers a given number of times before it sends them to the workers.
  struct Updated {
    Server plan;
    OpId update(std::size_t layer) {
      Op update = plan.builder.op(plan.add[layer]);
      update.kind = OpKind::kUpdate;
      update.from = {};
      update.passes = 3;
      return plan.builder.add(update);
    }
    void before_sends(OpId id, std::size_t layer) {
      for (const auto& sends : plan.send) plan.builder.order(id, sends[layer]);
    }
    OpId in_order(std::size_t layer) {
      const OpId id = update(layer);
      plan.builder.order(plan.add[layer], id);
      before_sends(id, layer);
      return id;
    }
  };
  Updated all;
  for (std::size_t layer = 0; layer < all.plan.add.size(); ++layer) all.in_order(layer);
  REQUIRE(complaint(all.plan) == "proved");
  Updated some;
  some.in_order(1);
  REQUIRE(has(complaint(some.plan), "some parameters are updated, others are not"));
  Updated twice;
  const OpId first = twice.in_order(1);
  twice.plan.builder.order(first, twice.in_order(1));
  REQUIRE(has(complaint(twice.plan), "updated twice: "));

  Updated late;  // runs at the same time as the sends
  late.plan.builder.order(late.plan.add[1], late.update(1));
  REQUIRE(has(complaint(late.plan), "race: "));
  Updated beside;  // runs at the same time as the sum
  beside.before_sends(beside.update(1), 1);
  REQUIRE(has(complaint(beside.plan), "race: "));
  Updated early;
  const OpId id = early.update(1);
  early.plan.builder.order(early.plan.receive[0][1], id);
  early.plan.builder.order(id, early.plan.add[1]);
  REQUIRE(has(complaint(early.plan), "incomplete sum: "));
}

TEST_CASE("sums into the same bytes need no order, but their readers do", "[plan][proof]") {
  // Machine 0's gradient lands in a buffer of its own. Two sums at the same time add to the gradient that
  // machine 0 computed.
  const auto two_sums = [](bool ordered) {
    Local plan;
    const BufferId scratch = plan.builder.add({.machine = MachineId(0),
                                               .role = Buffer::Role::kScratch,
                                               .place = Memory::Kind::kGpu,
                                               .replicas = 2,
                                               .size = 40_B});
    std::array<OpId, 2> sums;
    for (std::size_t i = 0; i < 2; ++i) {
      const Slice slot{scratch, 0, static_cast<std::int64_t>(i) * 20_B, 20_B};
      Op copy = plan.builder.op(plan.out);
      copy.from = {plan.gradient, 1, 0_B, 20_B};
      copy.into = slot;
      const OpId copied = plan.builder.add(copy);
      Op sum = copy;
      sum.kind = OpKind::kSum;
      sum.from = slot;
      sum.into = {plan.gradient, 0, 0_B, 20_B};
      sums[i] = plan.builder.add(sum);
      plan.builder.order(plan.backward, copied);
      plan.builder.order(copied, sums[i]);
      plan.builder.order(copied, plan.scatter);
      if (ordered || i == 0) plan.builder.order(sums[i], plan.scatter);
    }
    return complaint(plan);
  };
  REQUIRE(!has(two_sums(true), "race"));
  REQUIRE(has(two_sums(true), "op 9 (sum on machine 0, layer 0): counted twice"));
  REQUIRE(has(
      two_sums(false),
      "race: op 9 (sum on machine 0, layer 0) sums into b0:0[0+20] and op 1 (reduce-scatter on machine 0, "
      "layer 0) writes it, but neither waits for the other"));
}

TEST_CASE("a cycle through messages is a deadlock, reported op by op", "[plan][proof]") {
  AllReduce plan;
  // Each machine sends only after it has received, so both wait forever.
  plan.builder.order(plan.receive_raw[0], plan.send_raw[0]);
  plan.builder.order(plan.receive_raw[1], plan.send_raw[1]);
  const std::string text = complaint(plan);
  REQUIRE(has(text, "deadlock: ops wait for one another:"));
  REQUIRE(has(
      text, "op 1 (send on machine 0 to 1, layer 0) waits for op 2 (receive on machine 0 from 1, layer 0)"));
  REQUIRE(
      has(text,
          "op 2 (receive on machine 0 from 1, layer 0) waits for op 8 (send on machine 1 to 0, layer 0), the "
          "other end of message 0"));
  REQUIRE(has(
      text, "op 8 (send on machine 1 to 0, layer 0) waits for op 9 (receive on machine 1 from 0, layer 0)"));

  Local loop;
  loop.builder.order(loop.in, loop.out);
  REQUIRE(has(complaint(loop), "op 2 (copy on machine 0, layer 0) waits for op 3 (copy on machine 0"));
}

TEST_CASE("a wrong slice is named with the bytes that it holds", "[plan][proof]") {
  AllReduce plan;
  plan.builder.op(plan.send_raw[1]).from.offset = 32_B;  // its own half instead of the other's
  REQUIRE(
      has(complaint(plan),
          "op 3 (sum on machine 0, layer 0): wrong slice: in b0:0[0+32] it sums gradient bytes 0+32, left "
          "by op 0 "
          "(backward on machine 0, layer 0), and gradient bytes 32+32, left by op 2 (receive on machine 0 "
          "from 1, "
          "layer 0)"));
}

TEST_CASE("swapped chunks are named where they are first summed or read", "[plan][proof]") {
  Server pushed;
  std::swap(pushed.builder.op(pushed.push[1][0]).message, pushed.builder.op(pushed.push[1][1]).message);
  REQUIRE(has(complaint(pushed), "(sum on machine 2, layer 1): wrong slice: in b2[0+4096]"));

  Server pulled;
  std::swap(pulled.builder.op(pulled.send[0][0]).from, pulled.builder.op(pulled.send[0][1]).from);
  REQUIRE(
      has(complaint(pulled),
          "(forward on machine 0, layer 0): wrong slice: b0:0[4096+4096] holds gradient bytes 0+4096, left "
          "by op 6 "
          "(receive on machine 0 from 2, layer 0)"));
}

TEST_CASE("a gradient that is summed twice is named", "[plan][proof]") {
  AllReduce plan;
  const OpId again = plan.builder.add(plan.builder.op(plan.add[0]));
  plan.builder.order(plan.add[0], again);
  plan.builder.order(again, plan.send_sum[0]);
  plan.builder.order(again, plan.forward[0]);
  plan.builder.carry(again, plan.receive_raw[0]);
  REQUIRE(complaint(plan) ==
          "op 7 (sum on machine 0, layer 0): counted twice: in b0:0[0+32] both operands hold the gradient of "
          "GPU 0 of "
          "machine 1; they were left by op 3 (sum on machine 0, layer 0) and op 2 (receive on machine 0 from "
          "1, layer "
          "0)");
}

TEST_CASE("a gradient that is left out is named", "[plan][proof]") {
  Server plan;
  plan.builder.op(plan.add[0]).into.size = 2048_B;
  plan.builder.op(plan.add[0]).from.size = 2048_B;
  REQUIRE(complaint(plan) ==
          "op 7 (forward on machine 0, layer 0): incomplete sum: b0:0[6144+2048] lacks the gradient of GPU 0 "
          "of machine "
          "1; it was left by op 6 (receive on machine 0 from 2, layer 0)");
}

TEST_CASE("bytes without a defined value must not be read", "[plan][proof]") {
  AllReduce plan;
  plan.builder.op(plan.receive_raw[0]).into = {plan.gradient[0], 0, 32_B, 32_B};
  REQUIRE(has(complaint(plan),
              "op 3 (sum on machine 0, layer 0): reads b2:0[0+32], but nothing has written its byte at 0 in "
              "this iteration"));

  Local local;
  local.builder.op(local.gather).kind = OpKind::kBroadcast;
  REQUIRE(has(complaint(local),
              "op 4 (broadcast on machine 0, layer 0): reads b0:0[8+12], which op 1 "
              "(reduce-scatter on machine 0, layer 0) left without a defined value"));
}

TEST_CASE("a gradient that no forward reads is named", "[plan][proof]") {
  AllReduce plan;
  plan.builder.op(plan.forward[1]).from.size = 48_B;
  REQUIRE(complaint(plan) ==
          "machine 1 (m1[0]): the forward of layer 0 leaves out gradient bytes from 48 on, of 0+64");
}

TEST_CASE("reduce and broadcast sum over the GPUs of a machine", "[plan][proof]") {
  Local plan;
  plan.builder.op(plan.scatter).kind = OpKind::kReduce;
  plan.builder.op(plan.scatter).root = 1;
  plan.builder.op(plan.out).from.on = 1;
  plan.builder.op(plan.in).into.on = 1;
  plan.builder.op(plan.gather).kind = OpKind::kBroadcast;
  plan.builder.op(plan.gather).root = 1;
  Local wrong = plan;
  REQUIRE(complaint(plan) == "proved");
  wrong.builder.op(wrong.gather).root = 0;
  REQUIRE(has(complaint(wrong), "reads b0:0[0+20], which op 1 (reduce on machine 0, layer 0) left without"));
}

TEST_CASE("a shard goes from its GPU to the same GPU of the other machine", "[plan][proof]") {
  Shards early;  // the sum changes the shard while the peer still receives it
  REQUIRE(early.builder.remove_edge(early.send[0], early.add[0]));
  REQUIRE(has(complaint(early), "(send on machine 0 to 1, layer 0) reads b0:0[0+8]"));

  Shards missing;  // the last element holds the sum of one machine only
  missing.builder.op(missing.add[1]).into.size = 16_B;
  missing.builder.op(missing.add[1]).from.size = 16_B;
  REQUIRE(has(complaint(missing),
              "(forward on machine 1, layer 0): incomplete sum: b2:0[16+4] lacks the gradient of GPU 0 of "
              "machine 0, GPU 1 of machine 0; it was left by op 12 (all-gather on machine 1, layer 0)"));
}

}  // namespace weir
