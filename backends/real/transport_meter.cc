#include "backends/real/transport_meter.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "backends/real/channel_transport.h"
#include "backends/real/child.h"
#include "backends/real/drive.h"
#include "backends/real/plain_rate.h"
#include "backends/real/sharing.h"
#include "backends/real/workers.h"
#include "core/cluster/topology.h"

namespace weir::real {
namespace {

constexpr Duration kPatience{10'000'000'000};

// What the two processes of a measurement tell: bytes that arrived, and the time from the first to the last.
struct Told {
  std::atomic<std::int64_t> bytes;
  std::atomic<std::int64_t> ns;
};

// Two processes, in memory of which both can write.
class Pair {
 public:
  using Body = std::function<int(int self, Told& told)>;

  Pair() {
    void* at = ::mmap(nullptr, sizeof(std::array<Told, 2>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    WEIR_CHECK(at != MAP_FAILED, errno);
    told_ = new (at) std::array<Told, 2>();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { ::munmap(told_, sizeof *told_); }

  // Bytes a second that arrived at one of them; the slower one counts.
  Result<BytesPerSecond> run(const Body& body) {
    std::array<pid_t, 2> processes{};
    for (int self = 0; self < 2; ++self) {
      processes[static_cast<std::size_t>(self)] = fork_child();
      if (processes[static_cast<std::size_t>(self)] == 0)
        ::_exit(body(self, (*told_)[static_cast<std::size_t>(self)]));
    }
    bool well = true;
    for (const pid_t process : processes) {
      int status = 0;
      well = process > 0 && ::waitpid(process, &status, 0) == process && status == 0 && well;
    }
    if (!well) return failure("a process of the measurement failed");
    BytesPerSecond least = BytesPerSecond::unlimited();
    for (const Told& told : *told_) {
      const double seconds = static_cast<double>(told.ns) * 1e-9;
      least = std::min(least, BytesPerSecond(std::llround(static_cast<double>(told.bytes) / seconds)));
    }
    return least;
  }

 private:
  std::array<Told, 2>* told_;
};

struct Ends {
  Descriptor listener;
  Address address;
};

Result<std::array<Ends, 2>> listen_both() {
  std::array<Ends, 2> ends;
  for (Ends& end : ends) {
    auto listener = listen_at({"127.0.0.1", 0});
    if (!listener) return tl::unexpected(listener.error());
    end.address = listening_at(*listener);
    end.listener = std::move(*listener);
  }
  return ends;
}

// Names of this host, as nodes that share memory have.
Result<std::array<Ends, 2>> listen_locally() {
  std::array<Ends, 2> ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i].address = {fmt::format("@weir-bench-{}-{}", ::getpid(), i), 0};
    auto listener = listen_at(ends[i].address);
    if (!listener) return tl::unexpected(listener.error());
    ends[i].listener = std::move(*listener);
  }
  return ends;
}

// Each sends `messages` messages to the other at once.
Plan exchange(const TransportSettings& settings) {
  PlanBuilder builder("exchange", 2);
  std::array<BufferId, 2> out{};
  std::array<BufferId, 2> in{};
  const Bytes size = settings.message * settings.under_way;
  for (std::size_t m = 0; m < 2; ++m) {
    out[m] = builder.add({MachineId(m), Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, size});
    in[m] = builder.add({MachineId(m), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
  }
  for (int i = 0; i < settings.under_way; ++i) {
    for (std::size_t m = 0; m < 2; ++m) {
      Op op;
      op.machine = MachineId(m);
      op.peer = MachineId(1 - m);
      op.kind = OpKind::kSend;
      op.message = builder.add_message();
      op.priority = i;
      op.from = {out[m], 0, settings.message * i, settings.message};
      builder.add(op);
      std::swap(op.machine, op.peer);
      op.kind = OpKind::kReceive;
      op.into = {in[1 - m], 0, settings.message * i, settings.message};
      op.from = {};
      builder.add(op);
    }
  }
  return std::move(builder).build();
}

Cluster two_machines() {
  Topology topology;
  topology.name = "two";
  GroupSpec group;
  group.name = "node";
  group.count = 2;
  group.gpus.resize(1);
  group.gpus[0].at = "numa0";
  group.nics.resize(1);
  group.nics[0].at = "numa0";
  topology.groups = {group};
  return Cluster(topology);
}

int exchange_messages(int self, Told& told, const std::array<Ends, 2>& ends,
                      const TransportSettings& settings, int rounds) {
  const Plan plan = exchange(settings);
  const Cluster cluster = two_machines();
  const WorkTable works(plan, cluster);
  const MachineId machine(static_cast<std::size_t>(self));
  const auto buffers =
      settings.shared_memory ? Buffers::make_shared(plan, machine) : Buffers::make(plan, machine);
  if (!buffers) return 1;
  Meeting meeting;
  meeting.self = machine;
  meeting.lanes = {{MachineId(static_cast<std::size_t>(1 - self)), 0, 0}};
  meeting.addresses = {{ends[0].address}, {ends[1].address}};
  meeting.channels = settings.channels;
  meeting.sealed = settings.sealed;
  meeting.patience = kPatience;
  auto channels = meet(meeting, {&ends[static_cast<std::size_t>(self)].listener, 1});
  if (!channels || !share_memory(*channels, meeting, plan, **buffers)) return 1;
  Inbox inbox;
  Workers workers(
      1, [](const Op&, std::uint64_t) {}, inbox);
  ChannelSettings threads;
  threads.threads = settings.io_threads;
  const Clock clock;
  ChannelTransport transport(std::move(*channels), threads, plan, machine, **buffers, inbox);
  Record record(plan.ops().size(), rounds);
  const PortSettings how = {{Policy::kPriority, settings.message * settings.under_way}, 1, false};
  RealPort port(plan, cluster, works, machine, how, clock, transport, workers, inbox);
  Node node(plan, machine, rounds, record);
  const Instant begin = Clock::monotonic();
  if (!drive(node, port, plan, cluster, {})) return 1;
  told.bytes = settings.message.count() * settings.under_way * rounds;
  told.ns = (Clock::monotonic() - begin).ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other may still read
  return 0;
}

}  // namespace

Result<TransportRate> measure_transport(const TransportSettings& settings) {
  constexpr Bytes kCached(1 << 20);
  const Bytes memory = std::max(settings.message * settings.under_way, Bytes(1));
  const auto sockets = plain_rate({2, false, kCached, settings.time});
  if (!sockets) return tl::unexpected(sockets.error());
  const auto spread = plain_rate({2, false, memory, settings.time});
  if (!spread) return tl::unexpected(spread.error());
  const auto copies = plain_rate({2, true, memory, settings.time});
  if (!copies) return tl::unexpected(copies.error());
  const auto ends = settings.shared_memory ? listen_locally() : listen_both();
  if (!ends) return tl::unexpected(ends.error());
  // As many rounds as plain sockets would need that time for.
  const double round = static_cast<double>(settings.message.count()) * settings.under_way;
  // Small messages are held up by their number.
  constexpr double kMessagesPerSecond = 1e5;
  const double reached =
      std::min(static_cast<double>(sockets->least.value()) / round, kMessagesPerSecond / settings.under_way);
  const auto rounds = std::max<std::int64_t>(1, std::llround(settings.time.seconds() * reached));
  const auto nodes = Pair().run([&](int self, Told& told) {
    return exchange_messages(self, told, *ends, settings, static_cast<int>(rounds));
  });
  if (!nodes) return tl::unexpected(nodes.error());
  return TransportRate{*nodes, sockets->least, spread->least, copies->least};
}

}  // namespace weir::real
