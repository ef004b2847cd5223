#include "backends/real/meters/transport_meter.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "backends/real/compute/workers.h"
#include "backends/real/meters/plain_rate.h"
#include "backends/real/port/drive.h"
#include "backends/real/process/child.h"
#include "backends/real/transport/channel_transport.h"
#include "backends/real/transport/wires.h"
#include "backends/real/wire/rdma/connection.h"
#include "core/base/units_text.h"
#include "core/cluster/topology.h"

namespace weir::real {

namespace {

constexpr Duration kPatience{10'000'000'000};
constexpr Duration kStart{60'000'000'000};  // for processes to start, connect, and get their memory

// What each of the two processes reports: bytes that arrived, and the time from the first to the last.
struct Report {
  std::atomic<std::int64_t> bytes;
  std::atomic<std::int64_t> ns;
  std::atomic<std::int64_t> registrations;
  std::atomic<std::int64_t> copied;
  std::array<char, 256> why;  // set if it failed
};

// Two processes, and memory in which both write their reports.
class Pair {
 public:
  using Body = std::function<Result<void>(int self, Report& report)>;

  // `time` is the time of the measurement.
  explicit Pair(Duration time) : patience_(time + kStart) {
    void* at = ::mmap(nullptr, sizeof(std::array<Report, 2>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    WEIR_CHECK(at != MAP_FAILED, errno);
    reports_ = new (at) std::array<Report, 2>();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { ::munmap(reports_, sizeof *reports_); }

  // Bytes per second that arrived at the slower process.
  Result<BytesPerSecond> run(const Body& body) {
    std::array<pid_t, 2> processes{};
    for (int self = 0; self < 2; ++self) {
      processes[static_cast<std::size_t>(self)] = fork_child();
      if (processes[static_cast<std::size_t>(self)] == 0) {
        Report& report = (*reports_)[static_cast<std::size_t>(self)];
        const auto done = body(self, report);
        if (!done) done.error().text.copy(report.why.data(), report.why.size() - 1);
        ::_exit(done ? 0 : 1);
      }
    }
    const auto ended =
        wait_for_children({processes.begin(), processes.end()}, "one of the two measured", patience_);
    for (const Report& report : *reports_) {
      if (report.why.front() != '\0') return failure(report.why.data());
    }
    if (!ended) return tl::unexpected(ended.error());
    BytesPerSecond least = BytesPerSecond::unlimited();
    for (const Report& report : *reports_) {
      const double seconds = static_cast<double>(report.ns) * 1e-9;
      least = std::min(least, BytesPerSecond(std::llround(static_cast<double>(report.bytes) / seconds)));
    }
    return least;
  }

  const std::array<Report, 2>& reports() const { return *reports_; }

 private:
  Duration patience_;
  std::array<Report, 2>* reports_;
};

struct Ends {
  Descriptor listener;
  Address address;
};

// At free ports or, for nodes that share memory, at names on this host.
Result<std::array<Ends, 2>> listen_both(const TransportSettings& settings) {
  std::array<Ends, 2> ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool shared = shares_memory(settings.engine);
    ends[i].address = {shared ? fmt::format("@weir-bench-{}-{}", ::getpid(), i) : settings.hosts[i], 0};
    auto listener = listen_at(ends[i].address);
    if (!listener) return tl::unexpected(listener.error());
    if (!shared) ends[i].address = listening_at(*listener);
    ends[i].listener = std::move(*listener);
  }
  return ends;
}

// The distance between the places of two messages: each has pages of its own.
Bytes stride(const TransportSettings& settings) {
  return kPage * std::max<std::int64_t>(1, (settings.offset + settings.message + kPage - Bytes(1)) / kPage);
}

// Each sends `messages` messages to the other at once.
Plan exchange(const TransportSettings& settings) {
  PlanBuilder builder("exchange", 2);
  std::array<BufferId, 2> out{};
  std::array<BufferId, 2> in{};
  const Bytes size = stride(settings) * settings.under_way;
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
      op.from = {out[m], 0, stride(settings) * i + settings.offset, settings.message};
      builder.add(op);
      std::swap(op.machine, op.peer);
      op.kind = OpKind::kReceive;
      op.into = {in[1 - m], 0, stride(settings) * i + settings.offset, settings.message};
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

// One of the two processes, connected with the other.
struct Side {
  MachineId machine;
  std::unique_ptr<Buffers> buffers;
  std::vector<Channel> channels;
};

Result<Side> meet_other(const Plan& plan, int self, const std::array<Ends, 2>& ends,
                        const TransportSettings& settings, int channels) {
  Side side{MachineId(static_cast<std::size_t>(self)), nullptr, {}};
  auto buffers = shares_memory(settings.engine) ? Buffers::make_shared(plan, side.machine)
                                                : Buffers::make(plan, side.machine);
  if (!buffers) return tl::unexpected(buffers.error());
  side.buffers = std::move(*buffers);
  Meeting meeting;
  meeting.self = side.machine;
  meeting.lanes = {{MachineId(static_cast<std::size_t>(1 - self)), 0, 0}};
  meeting.addresses = {{ends[0].address}, {ends[1].address}};
  meeting.channels = channels;
  meeting.sealed = settings.sealed;
  meeting.patience = kPatience;
  auto met = meet(meeting, {&ends[static_cast<std::size_t>(self)].listener, 1});
  if (!met) return tl::unexpected(met.error());
  side.channels = std::move(*met);
  const auto joined = join(side.channels, {meeting, plan, *side.buffers, {}}, settings.engine);
  if (!joined) return tl::unexpected(joined.error());
  return side;
}

Result<void> exchange_messages(int self, Report& report, const std::array<Ends, 2>& ends,
                               const TransportSettings& settings, int rounds) {
  const Plan plan = exchange(settings);
  auto side = meet_other(plan, self, ends, settings, settings.channels);
  if (!side) return tl::unexpected(side.error());
  const Cluster cluster = two_machines();
  const WorkTable works(plan, cluster);
  Inbox inbox;
  Workers workers(
      1, [](const Op&, std::uint64_t) {}, inbox);
  ChannelSettings threads;
  threads.threads = settings.io_threads;
  threads.poll = settings.poll;
  const Clock clock;
  const auto device = rdma::device_of(side->channels.front());  // null if messages take another wire
  const std::int64_t registered = device ? device->counts().registrations.load() : 0;
  ChannelTransport transport(std::move(side->channels), threads, plan, side->machine, *side->buffers, inbox);
  Record record(plan.ops().size(), rounds);
  const PortSettings how = {{Policy::kPriority, settings.message * settings.under_way}, 1, false};
  RealPort port(plan, cluster, works, side->machine, how, clock, transport, workers, inbox);
  Node node(plan, side->machine, rounds, record);
  const Instant begin = Clock::monotonic();
  if (auto driven = drive(node, port, plan, cluster, {}); !driven) return driven;
  report.bytes = settings.message.count() * settings.under_way * rounds;
  report.ns = (Clock::monotonic() - begin).ns();
  if (device) {
    report.registrations = device->counts().registrations - registered;
    report.copied = device->counts().copied.load();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other may still read
  return {};
}

// Writes the same messages in a plain loop over the queue pair.
Result<void> write_messages(int self, Report& report, const std::array<Ends, 2>& ends,
                            const TransportSettings& settings, std::int64_t messages) {
  const Plan plan = exchange(settings);
  auto side = meet_other(plan, self, ends, settings, 1);
  if (!side) return tl::unexpected(side.error());
  const auto connection = rdma::connection_of(side->channels.front());
  rdma::QueuePair& pair = *connection->pair;
  std::vector<std::vector<rdma::Write>> writes;
  for (const Op& op : plan.ops(side->machine)) {
    if (op.kind != OpKind::kSend) continue;
    const Op& into = plan.op(plan.messages()[op.message.index()].receive);
    writes.push_back(rdma::writes_of(*connection, plan, *side->buffers, op, into));
    for (rdma::Write& write : writes.back())
      write.entries = static_cast<int>(std::min<std::size_t>(settings.entries, write.from.size() + 1));
  }
  const std::int64_t chunks = rdma::chunks_of(settings.message);  // of one message
  const auto most = static_cast<int>(writes.front().size());
  std::int64_t posted = 0;
  std::int64_t sent = 0;  // chunks
  std::int64_t came = 0;
  const Instant begin = Clock::monotonic();
  Instant last = begin;
  while (sent < chunks * messages || came < chunks * messages) {
    while (posted < messages && posted - sent / chunks < settings.under_way && pair.room() >= most) {
      for (const rdma::Write& write : writes[static_cast<std::size_t>(posted) % writes.size()]) {
        if (auto done = pair.post(write); !done) return done;
      }
      ++posted;
    }
    const auto ended = pair.poll();
    if (!ended) return tl::unexpected(ended.error());
    if (*ended) {
      ++((*ended)->received ? came : sent);
      last = Clock::monotonic();
    } else if (Clock::monotonic() - last > kPatience) {
      return failure("the other process has written nothing for " + weir::text(kPatience));
    }
  }
  report.bytes = settings.message.count() * messages;
  report.ns = (Clock::monotonic() - begin).ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other may still write
  return {};
}

// The number of rounds that take about this time at that rate.
int rounds_in(Duration time, BytesPerSecond rate, const TransportSettings& settings) {
  const double round = static_cast<double>(settings.message.count()) * settings.under_way;
  // Small messages are limited by their number, not their bytes.
  constexpr double kMessagesPerSecond = 1e5;
  const double reached =
      std::min(static_cast<double>(rate.value()) / round, kMessagesPerSecond / settings.under_way);
  return static_cast<int>(std::max<std::int64_t>(1, std::llround(time.seconds() * reached)));
}

}  // namespace

Result<TransportRate> measure_transport(const TransportSettings& settings) {
  constexpr Bytes kCached(1 << 20);
  const Bytes memory = stride(settings) * settings.under_way;
  const auto sockets = plain_rate({2, false, kCached, settings.time});
  if (!sockets) return tl::unexpected(sockets.error());
  const auto spread = plain_rate({2, false, memory, settings.time});
  if (!spread) return tl::unexpected(spread.error());
  const auto copies = plain_rate({2, true, memory, settings.time});
  if (!copies) return tl::unexpected(copies.error());
  const auto ends = listen_both(settings);
  if (!ends) return tl::unexpected(ends.error());
  const int rounds = rounds_in(settings.time, sockets->least, settings);
  const auto nodes = Pair(settings.time).run([&](int self, Report& report) {
    return exchange_messages(self, report, *ends, settings, rounds);
  });
  if (!nodes) return tl::unexpected(nodes.error());
  return TransportRate{*nodes, sockets->least, spread->least, copies->least};
}

Result<RdmaRate> measure_rdma(const TransportSettings& settings) {
  if (settings.entries > rdma::kMostEntries)
    return failure(fmt::format("a write has at most {} entries", rdma::kMostEntries));
  const auto plainly = [&](std::int64_t rounds) -> Result<BytesPerSecond> {
    const auto ends = listen_both(settings);
    if (!ends) return tl::unexpected(ends.error());
    return Pair(settings.time).run([&](int self, Report& report) {
      return write_messages(self, report, *ends, settings, rounds * settings.under_way);
    });
  };
  // The first measurement must guess the number of rounds. A few rounds show mostly the start.
  std::int64_t rounds = 1;
  auto writes = plainly(rounds);
  const auto took = [&] {
    const double bytes =
        static_cast<double>(settings.message.count()) * settings.under_way * static_cast<double>(rounds);
    return bytes / static_cast<double>(writes->value());
  };
  while (writes && took() < settings.time.seconds() / 2) {
    rounds = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(rounds) * std::min(8.0, settings.time.seconds() / took())));
    writes = plainly(rounds);
  }
  if (!writes) return tl::unexpected(writes.error());
  const auto ends = listen_both(settings);
  if (!ends) return tl::unexpected(ends.error());
  Pair pair(settings.time);
  const auto nodes = pair.run([&](int self, Report& report) {
    return exchange_messages(self, report, *ends, settings, static_cast<int>(rounds));
  });
  if (!nodes) return tl::unexpected(nodes.error());
  RdmaRate rate{*nodes, *writes, 0, Bytes(0)};
  for (const Report& report : pair.reports()) {
    rate.registrations += report.registrations;
    rate.copied += Bytes(report.copied);
  }
  return rate;
}

}  // namespace weir::real
