// How training frameworks fuse and cut tensors, and what they wait for before they call a collective.
#include "core/strategies/blocks/buckets.h"

#include "core/hardware/work.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// Layers from the input on, each with one tensor of this many kilobytes. Forward and backward take 1 ms each.
Trace trace_of_kilobytes(const std::vector<std::int64_t>& kilobytes) {
  Trace trace;
  trace.name = "layers";
  for (const std::int64_t size : kilobytes) {
    trace.layers.push_back(
        {fmt::format("{}", trace.layers.size()), 1_ms, 1_ms, {{"w", size * 250, Dtype::kF32}}});
  }
  return trace;
}

std::vector<std::int64_t> kilobytes(const Buckets& buckets) {
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : buckets.buckets) sizes.push_back(bucket.part.range.size.count() / 1000);
  return sizes;
}

TEST_CASE(
    "PyTorch's buckets are whole tensors from the last layer on, the first of 1 MiB and closed when full") {
  const Trace trace = trace_of_kilobytes({100, 26'000, 20'000, 10'000, 5'000, 400, 700});
  const Workload workload(trace);
  CHECK(kilobytes(ddp_buckets("any", workload, Options{})) ==
        std::vector<std::int64_t>{1'100, 35'000, 26'100});
  Options small;
  small.bucket_size = 1_MB;
  CHECK(kilobytes(ddp_buckets("any", workload, small)) ==
        std::vector<std::int64_t>{1'100, 5'000, 10'000, 20'000, 26'000, 100});
}

TEST_CASE("Horovod fuses tensors that become ready within a cycle, and starts them at its end") {
  const Trace trace = trace_of_kilobytes({500, 1'000, 2'000, 3'000, 4'000});
  const Workload workload(trace);
  const Cluster cluster(shipped_topology("toy-two-machines"));
  Options options;
  options.cycle_time = 2500_us;
  options.fusion_buffer = 5_MB;
  // Layers are ready at 1 and 2 ms
  // 3, 4 and 5 ms; cycles end at 2.5 and 5 ms. 4 + 3 MB exceed the buffer.
  const Buckets buckets = horovod_buckets("any", cluster, workload, options);
  CHECK(kilobytes(buckets) == std::vector<std::int64_t>{4'000, 3'000, 3'500});
  CHECK(buckets.buckets[0].layer == 3);
  CHECK(buckets.buckets[0].held == 500_us);
  CHECK(buckets.buckets[1].layer == 3);
  CHECK(buckets.buckets[1].held == 500_us);
  CHECK(buckets.buckets[2].layer == 0);
  CHECK(buckets.buckets[2].held == 0_us);
  options.cycle_time = 0_ms;
  CHECK(kilobytes(horovod_buckets("any", cluster, workload, options)).size() == 5);
}

TEST_CASE("ByteScheduler cuts every tensor, fuses none, and starts as many parts at once as its credit") {
  const Trace trace = trace_of_kilobytes({100, 900});
  const Workload workload(trace);
  Options options;
  options.partition_size = 300_KB;
  options.credit = 2;
  const Buckets buckets = byte_scheduler_buckets("any", workload, options);
  CHECK(kilobytes(buckets) == std::vector<std::int64_t>{300, 300, 300, 100});
  CHECK(buckets.landing == 2);
  CHECK(buckets.windowed);
  options.credit.reset();
  CHECK_FALSE(byte_scheduler_buckets("any", workload, options).windowed);
}

TEST_CASE("each part waits for its machine's scheduler, once for each machine") {
  const Trace trace = trace_of_kilobytes({100, 900});
  const Workload workload(trace);
  const Cluster cluster(shipped_topology("toy-two-machines"));
  Options options;
  options.partition_size = options.finest_part = 300_KB;
  options.part_overhead = 300_us;
  for (const char* name : {"ps", "ring", "bytescheduler"}) {
    INFO(name);
    const Plan plan = strategy_named(name).value()->plan(cluster, workload, options).value();
    std::size_t waits = 0;
    for (const Op& op : plan.ops()) {
      if (op.kind != OpKind::kWait) continue;
      CHECK(op.duration == 300_us);
      ++waits;
    }
    const std::size_t parts = std::string(name) == "ring" ? 1 : 4;
    CHECK(waits == parts * cluster.gpu_machines().size());
  }
}

// A plan of a 4 MB model on these machines.
Plan nccl_plan_of(const Cluster& cluster, const Options& options) {
  static const Trace trace = trace_of_kilobytes({1'000, 1'000, 1'000, 1'000});
  static const Workload workload(trace);
  return strategy_named("ddp").value()->plan(cluster, workload, options).value();
}

Cluster machines(int count, int gpus, int nics) {
  return cluster_of(fmt::format(
      R"({{"name": "t", "network": {{"latency": "10us"}}, "groups": [{{"name": "g", "count": {}, "numa": [{{}}],
          "gpus": [{{"count": {}, "at": "numa0", "rate": "100GB/s"}}],
          "nics": [{{"count": {}, "at": "numa0", "rate": "10Gbps"}}]}},
         {{"name": "c", "count": 1, "numa": [{{}}], "nics": [{{"at": "numa0", "rate": "10Gbps"}}]}}]}})",
      count, gpus, nics));
}

TEST_CASE("with NCCL a bucket is one op of each machine, in one order, and loads links as NCCL's rings do") {
  Options options;
  options.collective = Collective::kNccl;
  options.bucket_size = 2_MB;
  for (const int nics : {1, 2}) {
    for (const int gpus : {1, 2}) {
      INFO(nics << " NICs, " << gpus << " GPUs");
      const Cluster cluster = machines(4, gpus, nics);
      const Plan plan = nccl_plan_of(cluster, options);
      REQUIRE(plan.all_reduces().size() == 2);  // both of 2 MB; the first closes at 1 MiB
      for (const auto& ops : plan.all_reduces()) CHECK(ops.size() == 4);
      CHECK(plan.messages().empty());
      CHECK(plan.host_memory(MachineId(0)) == 0_B);
      const WorkTable works(plan, cluster);
      const std::vector<Bytes> loads = link_loads(plan, cluster, works);
      const std::int64_t ranks = std::int64_t{4} * gpus;
      for (std::size_t i = 0; i < cluster.links().size(); ++i) {
        const Link& link = cluster.links()[i];
        if (link.kind != Link::Kind::kNic) continue;
        const bool gpu_machine = cluster.machine(link.machine).has_gpus();
        CHECK(loads[i] == (gpu_machine ? 4_MB * (2 * (ranks - 1)) / (ranks * nics) : 0_B));
      }
      // The latency of a path down the ring and up again, over three machines each way.
      CHECK(works.of(plan.all_reduces()[0].front()).latency == 60_us);
    }
  }
}

TEST_CASE("GPUs of one machine alone are reduced over its own links, and a single one not at all") {
  Options options;
  options.collective = Collective::kNccl;
  for (const int gpus : {1, 4}) {
    const Cluster cluster = machines(1, gpus, 1);
    const Plan plan = nccl_plan_of(cluster, options);
    const WorkTable works(plan, cluster);
    const Work& work = works.of(plan.all_reduces()[0].front());
    if (gpus == 1) {
      CHECK(work.size == 0_B);
      continue;
    }
    for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)])
      CHECK(cluster.link(use.link).kind != Link::Kind::kNic);
  }
}

}  // namespace
}  // namespace weir
