#include "backends/real/meters/copy_meter.h"

#include <algorithm>
#include <cmath>

#include "backends/real/compute/gpu/gpu_engine.h"
#include "backends/real/compute/workers.h"
#include "backends/real/memory/cuda.h"
#include "backends/real/port/drive.h"
#include "backends/real/process/clock.h"
#include "backends/real/transport/channel_transport.h"
#include "core/cluster/topology.h"

namespace weir::real {
namespace {

constexpr MachineId kHere(std::size_t{0});

BytesPerSecond over(Bytes bytes, Duration time) {
  return BytesPerSecond(std::llround(static_cast<double>(bytes.count()) / time.seconds()));
}

// Two buffers on the GPU and two in host memory: parts leave one and arrive in the other.
Plan plan_of(const CopySettings& settings) {
  PlanBuilder builder("copies", 1);
  const auto add = [&](Memory::Kind place) {
    return builder.add({kHere, Buffer::Role::kScratch, place, 0, 1, settings.memory});
  };
  const BufferId gpu_out = add(Memory::Kind::kGpu);
  const BufferId host_out = add(Memory::Kind::kHost);
  const BufferId gpu_in = add(Memory::Kind::kGpu);
  const BufferId host_in = add(Memory::Kind::kHost);
  // Repeats each part when it is done.
  const auto add_op = [&](const Op& op) {
    const OpId id = builder.add(op);
    builder.carry(id, id);
  };
  for (Bytes at; at < settings.memory; at += settings.part) {
    const Bytes size = std::min(settings.part, settings.memory - at);
    Op op;
    op.machine = kHere;
    op.from = {gpu_out, 0, at, size};
    op.into = {host_out, 0, at, size};
    add_op(op);
    op.from = {host_in, 0, at, size};
    op.into = {gpu_in, 0, at, size};
    add_op(op);
  }
  return std::move(builder).build();
}

Cluster cluster_of_one() {
  GroupSpec group;
  group.name = "gpu";
  group.count = 1;
  group.gpus.push_back({});
  group.gpus.back().at = "numa0";
  Topology topology;
  topology.name = "copies";
  topology.groups.push_back(group);
  return Cluster(topology);
}

Result<BytesPerSecond> by_node(const CopySettings& settings, Gpus& gpus) {
  const Plan plan = plan_of(settings);
  const Cluster cluster = cluster_of_one();
  const auto buffers = Buffers::make(plan, kHere, &gpus);
  if (!buffers) return tl::unexpected(buffers.error());
  Inbox inbox;
  const auto engine = GpuEngine::make(gpus, plan, kHere, **buffers, inbox);
  if (!engine) return tl::unexpected(engine.error());
  Workers workers(
      1, [](const Op&, std::uint64_t) {}, inbox);
  ChannelTransport transport({}, {}, plan, kHere, **buffers, inbox);
  const WorkTable works(plan, cluster);
  const Clock clock;
  PortSettings how;
  how.gpus = engine->get();
  RealPort port(plan, cluster, works, kHere, how, clock, transport, workers, inbox);
  Record record(plan.ops().size(), settings.repetitions + 1);
  Node node(plan, kHere, settings.repetitions + 1, record);
  if (auto done = drive(node, port, plan, cluster, {}); !done) return tl::unexpected(done.error());
  // Measures from the end of the first iteration, which warms up.
  const auto end = [&](std::size_t iteration) {
    const auto& ops = record.iterations[iteration];
    return std::max_element(ops.begin(), ops.end(),
                            [](const OpRecord& a, const OpRecord& b) { return a.completed < b.completed; })
        ->completed;
  };
  const Duration took = end(static_cast<std::size_t>(settings.repetitions)) - end(0);
  return over(settings.memory * settings.repetitions, took);
}

Result<BytesPerSecond> plain(const CopySettings& settings, Gpus& gpus) {
  const auto size = static_cast<std::size_t>(settings.memory.count());
  void* host = nullptr;
  auto well = tried(cudaMallocHost(&host, 2 * size), "pinned memory");
  if (!well) return tl::unexpected(well.error());
  auto* const pinned = static_cast<std::byte*>(host);
  std::byte* device[2] = {};
  cudaStream_t streams[2] = {};
  for (int i = 0; i < 2 && well; ++i) {
    const auto memory = gpus.allocate(0, settings.memory);
    if (!memory) {
      well = tl::unexpected(memory.error());
      break;
    }
    device[i] = *memory;
    well = tried(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "a stream");
  }
  Instant begin;
  for (int round = -1; round < settings.repetitions && well; ++round) {
    if (round == 0) {
      well = tried(cudaDeviceSynchronize(), "copies");
      begin = Clock::monotonic();
    }
    if (well) well = tried(cudaMemcpyAsync(pinned, device[0], size, cudaMemcpyDefault, streams[0]), "a copy");
    if (well)
      well = tried(cudaMemcpyAsync(device[1], pinned + size, size, cudaMemcpyDefault, streams[1]), "a copy");
  }
  if (well) well = tried(cudaDeviceSynchronize(), "copies");
  const Duration took = Clock::monotonic() - begin;
  for (cudaStream_t stream : streams) {
    if (stream != nullptr) (void)cudaStreamDestroy(stream);
  }
  (void)cudaFreeHost(host);
  if (!well) return tl::unexpected(well.error());
  return over(settings.memory * settings.repetitions, took);
}

}  // namespace

Result<CopyRate> measure_copies(const CopySettings& settings) {
  auto gpus = Gpus::open({settings.device});
  if (!gpus) return tl::unexpected(gpus.error());
  const auto parts = by_node(settings, **gpus);
  if (!parts) return tl::unexpected(parts.error());
  const auto all = plain(settings, **gpus);
  if (!all) return tl::unexpected(all.error());
  return CopyRate{*parts, *all};
}

}  // namespace weir::real
