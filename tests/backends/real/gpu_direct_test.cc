// When NICs should access GPUs directly: if the topology favours it, and only over RDMA.
#include "backends/real/transport/transport_choice.h"
#include "core/analysis/local_choice.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir::real {
namespace {

// Two machines with a GPU and a NIC under one switch. `rate` is the rate of the switch's link to the
// processor.
Cluster beside(const std::string& rate) {
  return cluster_of(R"({"name": "two", "groups": [{"name": "gpu", "count": 2,
    "switches": [{"name": "p0", "at": "numa0", "rate": ")" +
                    rate + R"("}],
    "gpus": [{"at": "p0", "rate": "100Gbps"}], "nics": [{"at": "p0", "rate": "100Gbps"}]}]})");
}

Options with(LocalStage stage) {
  Options options;
  options.local = stage;
  return options;
}

TEST_CASE("NICs read and write GPUs by themselves where the way through host memory is slower") {
  const auto chosen = [](const char* rate) {
    return choose_local(beside(rate), Dtype::kF32, with(LocalStage::kAuto)).value().stages.front();
  };
  CHECK(chosen("50Gbps") == LocalStage::kGpuDirect);
  CHECK(chosen("400Gbps") != LocalStage::kGpuDirect);
}

TEST_CASE("a NIC without a GPU beside it cannot read GPUs, and the error says so") {
  const Cluster apart = cluster_of(R"({"name": "two", "groups": [{"name": "gpu", "count": 2,
    "switches": [{"name": "p0", "at": "numa0", "rate": "50Gbps"}],
    "gpus": [{"at": "p0", "rate": "100Gbps"}], "nics": [{"at": "numa0", "rate": "100Gbps"}]}]})");
  CHECK(choose_local(apart, Dtype::kF32, with(LocalStage::kAuto)).value().stages.front() !=
        LocalStage::kGpuDirect);
  CHECK(choose_local(apart, Dtype::kF32, with(LocalStage::kGpuDirect)).error().text ==
        "gpu_direct needs a GPU beside each NIC, under one PCIe switch; gpu[0] has a NIC without one");
}

TEST_CASE("messages from and to GPUs are refused where they would not go over RDMA") {
  const Cluster cluster = beside("50Gbps");
  Trace trace;
  trace.name = "net";
  trace.layers.push_back({"all", Duration(1000), Duration(1000), {{"w", 1 << 20, Dtype::kF32}}});
  const Workload workload(trace);
  const auto unified = *strategy_named("unified");
  const auto direct = unified->plan(cluster, workload, with(LocalStage::kGpuDirect)).value();
  const auto staged = unified->plan(cluster, workload, with(LocalStage::kReduceScatter)).value();
  for (const auto transport : {TransportChoice::kTcp, choice_of("shm"), TransportChoice::kAuto}) {
    const auto refused = check_messages(direct, MachineId(0), transport);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text ==
          "unified: a NIC must read or write GPU memory: take --transport rdma, another strategy, or "
          "another 'local' stage");
    CHECK(check_messages(staged, MachineId(0), transport));
  }
  CHECK(check_messages(direct, MachineId(0), choice_of("rdma")));
}

}  // namespace
}  // namespace weir::real
