// Golden texts of plans.
#include "core/plan/print.h"

#include "tests/catch.h"
#include "tests/core/plan/examples.h"

namespace weir {

TEST_CASE("the text of a plan shows buffers, ops and waits", "[plan][print]") {
  REQUIRE(text(examples::AllReduce().plan()) == R"(plan by hand: 2 machines, 14 ops, 4 messages
b0 gradient on machine 0 gpus 1 bytes 64
b1 gradient on machine 1 gpus 1 bytes 64
b2 scratch on machine 0 gpus 1 bytes 32
b3 scratch on machine 1 gpus 1 bytes 32
machine 0
   0 backward b0:every[0+64] layer 0 5000ns carried 4 6
   1 send b0:0[32+32] message 2 to 1 layer 0 after 0
   2 receive b2:0[0+32] message 0 from 1 layer 0 carried 3
   3 sum b0:0[0+32] += b2:0[0+32] layer 0 after 0 2
   4 send b0:0[0+32] message 1 to 1 layer 0 after 3
   5 receive b0:0[32+32] message 3 from 1 layer 0 after 1
   6 forward b0:every[0+64] layer 0 5000ns after 3 5
machine 1
   7 backward b1:every[0+64] layer 0 5000ns carried 11 13
   8 send b1:0[0+32] message 0 to 0 layer 0 after 7
   9 receive b3:0[0+32] message 2 from 0 layer 0 carried 10
  10 sum b1:0[32+32] += b3:0[0+32] layer 0 after 7 9
  11 send b1:0[32+32] message 3 to 0 layer 0 after 10
  12 receive b1:0[0+32] message 1 from 0 layer 0 after 8
  13 forward b1:every[0+64] layer 0 5000ns after 10 12
)");
}

TEST_CASE("slices of a buffer begin on elements, or on pages if they fill one", "[plan]") {
  PlanBuilder builder("slices", 1);
  const BufferId buffer =
      builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, Bytes(0)});
  CHECK(builder.reserve(buffer, Bytes(6), Dtype::kF16).offset == Bytes(0));
  CHECK(builder.reserve(buffer, Bytes(8), Dtype::kF32).offset == Bytes(8));
  builder.align_to_pages();
  CHECK(builder.reserve(buffer, kPage - Bytes(4), Dtype::kF32).offset == Bytes(16));
  CHECK(builder.reserve(buffer, kPage, Dtype::kF32).offset == kPage * 2);
  CHECK(builder.reserve(buffer, Bytes(4), Dtype::kF32).offset == kPage * 3);
  CHECK(builder.buffer(buffer).size == kPage * 3 + Bytes(4));
}

TEST_CASE("the text of a plan leaves out defaults, and nothing else", "[plan][print]") {
  examples::Local local;
  Op& scatter = local.builder.op(local.scatter);
  scatter.priority = 3;
  scatter.dtype = Dtype::kF16;
  Op& gather = local.builder.op(local.gather);
  gather.kind = OpKind::kBroadcast;
  gather.root = 1;
  gather.layer = -1;
  REQUIRE(text(local.plan()) == R"(plan local by hand: 1 machines, 6 ops, 0 messages
b0 gradient on machine 0 gpus 2 bytes 20
b1 staging on machine 0 numa 0 bytes 20
machine 0
  0 backward b0:every[0+20] layer 0 5000ns carried 5
  1 reduce-scatter b0:every[0+20] layer 0 f16 priority 3 after 0
  2 copy b1[0+20] = b0:shards[0+20] layer 0 after 1
  3 copy b0:shards[0+20] = b1[0+20] layer 0 after 2
  4 broadcast b0:every[0+20] root 1 after 3
  5 forward b0:every[0+20] layer 0 5000ns after 4
)");
}

TEST_CASE("the picture of a plan has clusters, messages and dashed carried edges", "[plan][print]") {
  REQUIRE(graphviz(examples::Local().plan()) == R"(digraph plan {
  rankdir=LR;
  node [shape=box, fontname="monospace"];
  subgraph cluster_0 {
    label="machine 0";
    op0 [label="0 backward b0:every[0+20] layer 0 5000ns"];
    op1 [label="1 reduce-scatter b0:every[0+20] layer 0"];
    op2 [label="2 copy b1[0+20] = b0:shards[0+20] layer 0"];
    op3 [label="3 copy b0:shards[0+20] = b1[0+20] layer 0"];
    op4 [label="4 all-gather b0:every[0+20] layer 0"];
    op5 [label="5 forward b0:every[0+20] layer 0 5000ns"];
  }
  op0 -> op1;
  op1 -> op2;
  op2 -> op3;
  op3 -> op4;
  op4 -> op5;
  op5 -> op0 [style=dashed, constraint=false];
}
)");
  const std::string two = graphviz(examples::AllReduce().plan());
  REQUIRE(two.find("  subgraph cluster_1 {\n    label=\"machine 1\";\n    op7 [") != std::string::npos);
  REQUIRE(two.find("  op8 -> op2 [label=\"0\", style=bold, color=blue];\n") != std::string::npos);
}

}  // namespace weir
