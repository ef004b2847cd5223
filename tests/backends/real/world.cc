#include "tests/backends/real/world.h"

#include <barrier>
#include <thread>

#include "backends/real/compute/gpu/gpu_engine.h"
#include "backends/real/compute/host_work.h"
#include "backends/real/compute/workers.h"
#include "backends/real/wire/rdma/rdma.h"

namespace weir::real {
namespace {

std::vector<const Wire*> wires_that(bool use_devices) {
  std::vector<const Wire*> all;
  for (const Wire& wire : wires()) {
    if (wire.traits.uses_devices == use_devices) all.push_back(&wire);
  }
  return all;
}

/// What all machines know of their meeting, except its addresses.
Meeting meeting_of(const ThreadWorld::Settings& settings) {
  Meeting meeting;
  meeting.channels = settings.channels;
  meeting.sealed = settings.sealed;
  meeting.patience = Duration(5'000'000'000);
  meeting.token.fill(std::byte{42});
  return meeting;
}

}  // namespace

std::vector<const Wire*> wires_of_any_host() { return wires_that(false); }
std::vector<const Wire*> wires_over_devices() { return wires_that(true); }

Buffers& ThreadWorld::buffers(MachineId machine, bool gpus) {
  int next = 0;
  while (buffers_.size() < plan_.machines()) {
    const MachineId id(buffers_.size());
    std::vector<int> devices(gpus ? cluster_.machine(id).gpus.size() : 0);
    for (int& device : devices) device = next++ % gpu_count().value();
    gpus_.push_back(devices.empty() ? nullptr : std::move(Gpus::open(devices).value()));
    buffers_.push_back(std::move(Buffers::make_shared(plan_, id, gpus_.back().get()).value()));
  }
  return *buffers_[machine.index()];
}

Result<std::vector<Channel>> ThreadWorld::join(const Meeting& own, const Descriptor& listener,
                                               const Settings& settings) {
  auto channels = meet(own, {&listener, 1});
  if (!channels) return channels;
  const auto joined = real::join(*channels, {own, plan_, *buffers_[own.self.index()], {}}, settings.choice);
  if (!joined) return tl::unexpected(joined.error());
  const std::lock_guard lock(mutex_);
  for (const Channel& channel : *channels) wires_.emplace(channel.medium->wire());
  if (!channels->empty()) devices_[own.self.index()] = rdma::device_of(channels->front());
  return channels;
}

Result<Record> ThreadWorld::run(const Dispatch& dispatch, int iterations, const Settings& settings) {
  const std::size_t machines = plan_.machines();
  buffers(MachineId(0), settings.gpus);
  wires_.clear();
  devices_.assign(machines, nullptr);
  std::vector<Descriptor> listeners;
  Meeting meeting = meeting_of(settings);
  for (std::size_t i = 0; i < machines; ++i) {
    const bool local = shares_memory(settings.choice);
    const Address address = local ? Address{fmt::format("@weir-test-{}-{}", ::getpid(), i), 0}
                                  : Address{settings.hosts[i % settings.hosts.size()], 0};
    listeners.push_back(std::move(listen_at(address).value()));
    meeting.addresses.push_back({local ? address : listening_at(listeners.back())});
  }
  Record record(plan_.ops().size(), iterations);
  std::vector<Result<void>> results(machines);
  const WorkTable works(plan_, cluster_);
  std::barrier together(static_cast<std::ptrdiff_t>(machines));
  Clock clock;
  const auto run_one = [&](MachineId machine) {
    Meeting own = meeting;
    own.self = machine;
    own.lanes = lanes_of(plan_, machine);
    auto channels = join(own, listeners[machine.index()], settings);
    together.arrive_and_wait();
    if (!channels) {
      results[machine.index()] = tl::unexpected(channels.error());
      together.arrive_and_drop();
      return;
    }
    Inbox inbox;
    const Buffers& mine = *buffers_[machine.index()];
    const auto work = [&](const Op& op, std::uint64_t iteration) {
      if (is_compute(op.kind)) return settings.compute(op, iteration);
      work_on(op, plan_, mine);
    };
    Workers workers(settings.threads, work, inbox);
    std::unique_ptr<GpuEngine> engine;
    if (gpus_[machine.index()])
      engine = std::move(GpuEngine::make(*gpus_[machine.index()], plan_, machine, mine, inbox).value());
    if (machine.index() + 1 == machines)
      std::this_thread::sleep_for(std::chrono::nanoseconds(settings.late.ns()));
    ChannelTransport transport(std::move(*channels), settings.transport, plan_, machine, mine, inbox);
    RealPort port(plan_, cluster_, works, machine,
                  {dispatch, settings.threads, settings.compute != nullptr, engine.get()}, clock, transport,
                  workers, inbox);
    Node node(plan_, machine, iterations, record);
    results[machine.index()] = drive(node, port, plan_, cluster_, settings.drive);
    together.arrive_and_wait();  // nobody leaves while others still move bytes
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < machines; ++i) threads.emplace_back(run_one, MachineId(i));
  for (std::thread& thread : threads) thread.join();
  for (const Result<void>& result : results) {
    if (!result) return tl::unexpected(result.error());
  }
  return record;
}

}  // namespace weir::real
