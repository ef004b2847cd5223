#include "tests/backends/real/world.h"

#include <barrier>
#include <thread>

#include "backends/real/host_work.h"

namespace weir::real {

Buffers& ThreadWorld::buffers(MachineId machine) {
  while (buffers_.size() < plan_.machines()) {
    buffers_.push_back(std::move(Buffers::make(plan_, MachineId(buffers_.size())).value()));
  }
  return *buffers_[machine.index()];
}

Result<Record> ThreadWorld::run(const Dispatch& dispatch, int iterations, const Settings& settings) {
  const std::size_t machines = plan_.machines();
  buffers(MachineId(0));
  std::vector<Descriptor> listeners;
  Meeting meeting;
  meeting.channels = settings.channels;
  meeting.patience = Duration(5'000'000'000);
  meeting.token.fill(std::byte{42});
  for (std::size_t i = 0; i < machines; ++i) {
    listeners.push_back(std::move(listen_at({"127.0.0.1", 0}).value()));
    meeting.addresses.push_back(listening_at(listeners.back()));
  }
  Record record(plan_.ops().size(), iterations);
  std::vector<Result<void>> results(machines);
  const WorkTable works(plan_, cluster_);
  std::barrier together(static_cast<std::ptrdiff_t>(machines));
  Clock clock;
  const auto run_one = [&](MachineId machine) {
    Meeting own = meeting;
    own.self = machine;
    own.peers = peers_of(plan_, machine);
    auto channels = meet(own, listeners[machine.index()]);
    together.arrive_and_wait();
    if (!channels) {
      results[machine.index()] = tl::unexpected(channels.error());
      together.arrive_and_drop();
      return;
    }
    Inbox inbox;
    const Buffers& mine = *buffers_[machine.index()];
    Workers workers(
        settings.threads, [&](const Op& op, std::uint64_t) { work_on(op, plan_, mine); }, inbox);
    TcpTransport transport(std::move(*channels), settings.tcp, plan_, machine, mine, inbox);
    RealPort port(plan_, cluster_, works, machine, {dispatch, settings.threads, false}, clock, transport,
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
