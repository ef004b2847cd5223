// Ops that no world can execute.
#include "core/plan/structure.h"

#include <functional>

#include "tests/catch.h"
#include "tests/core/plan/examples.h"

namespace weir {
namespace {

using examples::AllReduce;
using examples::Local;
using namespace literals;

// The first error that the structure check finds after one change to the example.
template <class Example>
std::string complaint(const std::function<void(Example&)>& change) {
  Example example;
  change(example);
  const ProofErrors findings = structure_findings(example.plan());
  return findings.empty() ? "valid" : findings.error().text;
}

}  // namespace

TEST_CASE("slices lie inside their buffers, on the op's machine, in whole elements", "[plan][structure]") {
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.offset = 16_B; }) ==
          "op 3 (sum on machine 0, layer 0): b2:0[16+32] lies outside its buffer of 32 bytes");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.buffer = p.scratch[1]; }) ==
          "op 3 (sum on machine 0, layer 0): b3:0[0+32] lies on machine 1");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).dtype = Dtype::kF64; }) == "valid");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_sum[0]).from.size = 30_B; }) ==
          "op 4 (send on machine 0 to 1, layer 0): b0:0[0+30] is not made of whole elements of 4 bytes");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.buffer = BufferId(9); }) ==
          "op 3 (sum on machine 0, layer 0): the buffer of its slice 'from' does not exist");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.on = 1; }) ==
          "op 3 (sum on machine 0, layer 0): b2:1[0+32] names a replica that its buffer does not have");
}

TEST_CASE("every kind has the slices that it needs and no other", "[plan][structure]") {
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from = {}; }) ==
          "op 3 (sum on machine 0, layer 0): needs a slice 'from'");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.size = 0_B; }) ==
          "op 3 (sum on machine 0, layer 0): its slice 'from' is empty");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.add[0]).from.size = 16_B; }) ==
          "op 3 (sum on machine 0, layer 0): reads 16 bytes and writes 32");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) {
            p.builder.op(p.send_sum[0]).into = {p.scratch[0], 0, 0_B, 4_B};
          }) == "op 4 (send on machine 0 to 1, layer 0): must not have a slice 'into'");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) {
            p.builder.op(p.add[0]).from = {p.gradient[0], 0, 16_B, 32_B};
          }) == "op 3 (sum on machine 0, layer 0): b0:0[16+32] and b0:0[0+32] overlap");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.forward[0]).from.on = 0; }) ==
          "op 6 (forward on machine 0, layer 0): its slice must be on every GPU");
}

TEST_CASE("every message has one send and one receive that match", "[plan][structure]") {
  REQUIRE(
      complaint<AllReduce>([](AllReduce& p) {
        Op& receive = p.builder.op(p.receive_raw[0]);
        receive.kind = OpKind::kCopy;
        receive.from = {p.gradient[0], 0, 0_B, 32_B};
      }) ==
      "message 0 has 1 sends and 0 receives, but needs one of each; op 8 (send on machine 1 to 0, layer 0)");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_raw[0]).message = p.raw[0]; }) ==
          "message 0 has 2 sends and 1 receives, but needs one of each; op 1 (send on machine 0 to 1, layer "
          "0); op 8 "
          "(send on machine 1 to 0, layer 0); op 2 (receive on machine 0 from 1, layer 0)\n"
          "message 2 has 0 sends and 1 receives, but needs one of each; op 9 (receive on machine 1 from 0, "
          "layer 0)");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_raw[0]).from.size = 16_B; }) ==
          "the ends of message 2 do not match: op 1 (send on machine 0 to 1, layer 0) and op 9 (receive on "
          "machine 1 from 0, layer 0): 16 bytes against 32");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_raw[0]).dtype = Dtype::kF16; }) ==
          "the ends of message 2 do not match: op 1 (send on machine 0 to 1, layer 0) and op 9 (receive on "
          "machine 1 from 0, layer 0): f16 against f32");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_raw[0]).peer = MachineId(0); }) ==
          "the ends of message 2 do not match: op 1 (send on machine 0 to 0, layer 0) and op 9 (receive on "
          "machine 1 from 0, layer 0): they name different peers");
  REQUIRE(complaint<AllReduce>([](AllReduce& p) { p.builder.op(p.send_raw[0]).nic = -1; }) ==
          "op 1 (send on machine 0 to 1, layer 0): its NIC is negative");
}

TEST_CASE("collectives work on every replica of a GPU buffer, shards move between equals",
          "[plan][structure]") {
  REQUIRE(complaint<Local>([](Local& p) { p.builder.op(p.gather).into.on = 0; }) ==
          "op 4 (all-gather on machine 0, layer 0): its slice must be on each GPU of a group");
  REQUIRE(complaint<Local>([](Local& p) {
            p.builder.op(p.gather).into = {p.staging, 0, 0_B, 20_B};
          }) == "op 4 (all-gather on machine 0, layer 0): works on GPU buffers only");
  REQUIRE(complaint<Local>([](Local& p) {
            p.builder.op(p.gather).kind = OpKind::kReduce;
            p.builder.op(p.gather).root = 2;
          }) == "op 4 (reduce on machine 0, layer 0): its root, GPU 2, is not in its group");
  REQUIRE(complaint<Local>([](Local& p) {
            p.builder.op(p.gather).into.on = Replicas::each(p.builder.group({1, 2}));
          }) ==
          "op 4 (all-gather on machine 0, layer 0): b0:every[0+20] names a replica that its buffer does not "
          "have");
  REQUIRE(complaint<Local>([](Local& p) { p.builder.op(p.gather).into.on = Replicas::each(GroupId(7)); }) ==
          "op 4 (all-gather on machine 0, layer 0): b0:every{?}[0+20] names a group that does not exist");
  REQUIRE(complaint<Local>([](Local& p) {
            p.builder.group({1, 0});
          }) == "group 1: its GPUs must be in ascending order, each once");
  REQUIRE(complaint<Local>([](Local& p) {
            p.builder.op(p.backward).into.on = Replicas::each(p.builder.group({1}));
          }) == "op 0 (backward on machine 0, layer 0): its slice must be on every GPU");
  REQUIRE(
      complaint<Local>([](Local& p) {
        p.builder.op(p.out).into = {p.gradient, 0, 0_B, 20_B};
      }) ==
      "op 2 (copy on machine 0, layer 0): b0:shards[0+20] and b0:0[0+20] do not lie on the same number of "
      "GPUs, and "
      "neither is in host memory");
  REQUIRE(complaint<Local>([](Local& p) { p.builder.op(p.out).kind = OpKind::kSum; }) ==
          "op 2 (sum on machine 0, layer 0): b0:shards[0+20] and b1[0+20] lie in different memories");
}

TEST_CASE("each machine has one gradient buffer on its GPUs, of the same size everywhere",
          "[plan][structure]") {
  REQUIRE(complaint<Local>([](Local& p) { p.builder.add({.machine = MachineId(0), .size = 20_B}); }) ==
          "buffer b2: a gradient buffer must be on GPUs\nmachine 0 has two gradient buffers, b0 and b2");

  PlanBuilder two("sizes differ", 2);
  for (std::size_t machine = 0; machine < 2; ++machine) {
    two.add({.machine = MachineId(machine),
             .place = Memory::Kind::kGpu,
             .size = static_cast<std::int64_t>(1 + machine) * 64_B});
  }
  REQUIRE(structure_findings(PlanBuilder(two).build()).error().text ==
          "gradient buffers differ in size: b0 has 64 bytes, b1 has 128");
}

}  // namespace weir
