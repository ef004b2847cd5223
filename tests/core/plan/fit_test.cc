// Correct plans that do not fit another cluster or another model.
#include "core/plan/fit.h"

#include <functional>

#include "tests/catch.h"
#include "tests/core/plan/examples.h"

namespace weir {
namespace {

using examples::AllReduce;
using examples::Server;
using examples::Setting;
using namespace literals;

// The proof's error after one change to the cluster or the model.
std::string complaint(const Plan& plan, const std::function<void(Topology&)>& change_cluster,
                      const std::function<void(Trace&)>& change_model) {
  const Setting setting(plan);
  Topology topology = setting.topology;
  Trace trace = setting.trace;
  change_cluster(topology);
  change_model(trace);
  const Cluster cluster(topology);
  const Workload workload(trace);
  const Result<Proof> proof = prove(plan, cluster, workload);
  return proof ? "proved" : proof.error().text;
}

std::string on(const Plan& plan, const std::function<void(Topology&)>& change) {
  return complaint(plan, change, [](Trace&) {});
}

std::string of_model(const Plan& plan, const std::function<void(Trace&)>& change) {
  return complaint(
      plan, [](Topology&) {}, change);
}

}  // namespace

TEST_CASE("a plan that forgets a machine is not proved", "[plan][fit]") {
  const Plan plan = Server().plan();
  REQUIRE(on(plan, [](Topology&) {}) == "proved");
  REQUIRE(on(plan, [](Topology& t) { t.groups.push_back(t.groups[0]); }) ==
          "the plan is for 3 machines, but the cluster has 4");
  REQUIRE(on(plan, [](Topology& t) { t.groups[2].gpus = t.groups[0].gpus; }) ==
          "machine 2 (m2[0]) has no backward of layer 0\nmachine 2 (m2[0]) has no forward of layer 0\n"
          "machine 2 (m2[0]) has no backward of layer 1\nmachine 2 (m2[0]) has no forward of layer 1");
  REQUIRE(on(plan, [](Topology& t) {
            t.groups[0].gpus.clear();
          }).starts_with("buffer b0 has replicas on 1 GPUs, but machine 0 (m0[0]) has 0"));
}

TEST_CASE("a plan that forgets a layer, or a part of one, is not proved", "[plan][fit]") {
  const Plan plan = Server().plan();
  const auto model = [&](const std::function<void(Trace&)>& change) { return of_model(plan, change); };
  REQUIRE(
      model([](Trace& trace) {
        trace.layers.push_back({"new", 1_us, 1_us, {}});
      })
          .starts_with(
              "machine 0 (m0[0]) has no backward of layer 2\nmachine 0 (m0[0]) has no forward of layer 2"));
  REQUIRE(model([](Trace& trace) {
            trace.layers[0].tensors.push_back({"new", 10, Dtype::kF32});
          })
              .starts_with(
                  "machine 0 (m0[0]): the backward of layer 0 leaves out gradient bytes from 8192 on, of "
                  "4096+4136"));
  REQUIRE(model([](Trace& trace) {
            trace.layers.pop_back();
          }).starts_with("op 0 (backward on machine 0, layer 1): the workload has 1 layers"));
  REQUIRE(model([](Trace& trace) {
            trace.layers[0].tensors.clear();
          }).find("b0:every[4096+4096] is not in its layer, which lies at 4096+0") != std::string::npos);
}

TEST_CASE("an op that names a device that its machine lacks is not proved", "[plan][fit]") {
  AllReduce plan;
  plan.builder.op(plan.send_sum[1]).nic = 7;
  REQUIRE(on(plan.plan(), [](Topology&) {}) ==
          "op 11 (send on machine 1 to 0, layer 0): names NIC 7, but machine 1 (m1[0]) has 1");
  REQUIRE(on(AllReduce().plan(), [](Topology& t) { t.groups[1].gpus[0].count = 4; }) ==
          "buffer b1 has replicas on 1 GPUs, but machine 1 (m1[0]) has 4\n"
          "buffer b3 has replicas on 1 GPUs, but machine 1 (m1[0]) has 4");
  AllReduce far;
  far.builder.add({.machine = MachineId(0), .role = Buffer::Role::kScratch, .numa = 3, .size = 4_B});
  REQUIRE(on(far.plan(), [](Topology&) {}) == "buffer b4 lies on NUMA node 3, but machine 0 (m0[0]) has 1");
}

TEST_CASE("buffers fit into memories whose size is stated", "[plan][fit]") {
  const Plan plan = Server().plan();
  REQUIRE(on(plan, [](Topology& t) { t.groups[2].numa[0].memory = 12'288_B; }) == "proved");
  REQUIRE(on(plan, [](Topology& t) { t.groups[2].numa[0].memory = 12'287_B; }) ==
          "the buffers on machine 2 (m2[0]) take 12288 bytes of numa0, which has 12287");
  REQUIRE(on(plan, [](Topology& t) { t.groups[1].gpus[0].memory = 8'000_B; }) ==
          "the buffers on machine 1 (m1[0]) take 8192 bytes of gpu0, which has 8000");
}

}  // namespace weir
