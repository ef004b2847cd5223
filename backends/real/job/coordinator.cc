#include "backends/real/job/coordinator.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "backends/real/transport/wires.h"
#include "backends/real/wire/socket.h"
#include "core/base/units_text.h"
#include "core/plan/hash.h"

namespace weir::real {
namespace {

constexpr Duration kWatchSlice{10'000'000};  // pause between asking `watch` for the cause
constexpr const char* kNcclHint =
    "; NCCL connects the GPUs: NCCL_DEBUG=INFO makes it log how, NCCL_SOCKET_IFNAME sets its network";

// Memory is prepared before anything moves, and machines may share a host. A host that is slower than this
// has no memory left.
constexpr BytesPerSecond kSlowestMemory(50'000'000);
constexpr Duration kLongestPreparing{600'000'000'000};  // the limit, since machines may be on different hosts

// The size of each machine's buffers that lie in host memory.
std::vector<Bytes> host_memory(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) {
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    const MachineId machine(i);
    all.push_back(plan.host_memory(machine));
    if (inputs.gpus) continue;
    all.back() += plan.gpu_memory(machine) * static_cast<std::int64_t>(cluster.machine(machine).gpus.size());
  }
  return all;
}

// An all-reduce begins when the last of its ops is submitted. A machine knows only its own op.
void begin_together(const Plan& plan, Record& record) {
  for (const std::vector<OpId>& ops : plan.all_reduces()) {
    for (int i = 0; i < static_cast<int>(record.iterations.size()); ++i) {
      Instant last;
      for (const OpId op : ops) last = std::max(last, record.of(op, i).submitted);
      for (const OpId op : ops) record.of(op, i).started = std::max(record.of(op, i).started, last);
    }
  }
}

// Copies the bytes of a piece to their place. A machine's iterations are not adjacent in the whole record.
void keep(const KeepRecord& piece, const Plan& plan, Record& record) {
  const auto ops = plan.ops(MachineId(piece.machine));
  const std::size_t each = ops.size() * sizeof(OpRecord);
  auto at = static_cast<std::size_t>(piece.at);
  for (std::size_t taken = 0; taken < piece.bytes.size();) {
    const std::size_t within = at % each;
    const std::size_t bytes = std::min(piece.bytes.size() - taken, each - within);
    auto* const first = reinterpret_cast<std::byte*>(&record.iterations[at / each][ops.front().id.index()]);
    std::memcpy(first + within, piece.bytes.data() + taken, bytes);  // NOLINT: plain numbers
    taken += bytes;
    at += bytes;
  }
}

}  // namespace

Result<JobTerms> Coordinator::terms(const InputsNote& inputs, const Plan& plan,
                                    const Cluster& cluster) const {
  JobTerms terms;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    const Machine& machine = cluster.machine(MachineId(i));
    const std::size_t record_size = plan.ops(MachineId(i)).size() * sizeof(OpRecord);
    terms.seats.push_back({machine.name, i < settings_.hosts.size() ? settings_.hosts[i] : std::string(),
                           machine.nics.size(), static_cast<std::int64_t>(record_size)});
  }
  terms.version = settings_.version;
  terms.inputs = note_of(inputs);
  terms.hash = plan_hash(plan);
  terms.iterations = inputs.iterations;
  terms.ahead = inputs.verify == Verify::kFirst;
  for (int i = 0; i < (terms.ahead ? 2 : 1); ++i) {
    const auto token = make_token();
    if (!token) return tl::unexpected(token.error());
    terms.tokens.push_back(hexadecimal(*token));
  }
  const std::vector<Bytes> memory = host_memory(inputs, plan, cluster);
  const Bytes all = std::accumulate(memory.begin(), memory.end(), Bytes(0));
  terms.patience = settings_.patience;
  terms.planning = settings_.patience + std::min(all / kSlowestMemory, kLongestPreparing);
  terms.planning_hint = fmt::format(
      "; each plans and then prepares its memory, up to {}, and {} on all machines: --patience "
      "waits longer, a smaller model or fewer machines need less",
      rounded(*std::max_element(memory.begin(), memory.end())), rounded(all));
  terms.gpu_hint = kNcclHint;
  terms.watched = settings_.watch != nullptr;
  for (const Wire& wire : wires()) terms.wires.emplace_back(wire.name);
  terms.check_host = check_reachable;
  return terms;
}

Result<JobResult> Coordinator::run(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) {
  auto known = terms(inputs, plan, cluster);
  if (!known) return tl::unexpected(known.error());
  JobCoordinator machine(std::move(*known), Clock::monotonic());
  // As JSON inside JSON it may double in size.
  constexpr std::int64_t kMost = kLargestNote.count() / 2;
  if (static_cast<std::int64_t>(inputs.experiment.size()) > kMost) {
    machine.stop(Error{fmt::format("the experiment has {} bytes with its topology and trace, but a job "
                                   "allows at most {}; try a trace with fewer tensors",
                                   inputs.experiment.size(), kMost)},
                 Clock::monotonic());
  }
  JobResult result;
  while (true) {
    for (CoordinatorAction& action : machine.actions()) carry_out(std::move(action), plan, result.record);
    if (machine.over()) break;
    step(machine);
  }
  if (machine.error()) return tl::unexpected(*machine.error());
  begin_together(plan, result.record);
  result.checked = machine.tally().checked;
  result.transports = machine.tally().transports;
  for (auto& [transport, ends] : result.transports) ends /= 2;
  result.on_tcp = machine.tally().on_tcp;
  return result;
}

void Coordinator::step(JobCoordinator& machine) {
  const bool watched = settings_.watch && machine.phase() <= JobCoordinator::Phase::kBlaming;
  if (watched) {
    if (const auto well = settings_.watch(); !well) return machine.stop(well.error(), Clock::monotonic());
  }
  const Instant now = Clock::monotonic();
  Duration patience = std::max(machine.wake() - now, Duration(0));
  if (machine.phase() == JobCoordinator::Phase::kBlaming) patience = std::min(patience, kWatchSlice);
  // Checks deadlines only when no note waits, however many the machines send.
  auto note = socket_->receive(patience);
  if (note) {
    machine.hear(std::move(*note), Clock::monotonic());
  } else if (Clock::monotonic() >= machine.wake()) {
    machine.tick(Clock::monotonic());
  }
}

void Coordinator::carry_out(CoordinatorAction action, const Plan& plan, Record& record) {
  if (auto* const to_send = std::get_if<SendNote>(&action)) socket_->send(to_send->note);
  if (auto* const alive = std::get_if<KeepAlive>(&action)) socket_->keep_alive(alive->connection);
  if (std::holds_alternative<AllJoined>(action) && settings_.joined) settings_.joined();
  if (auto* const begun = std::get_if<BeginRecord>(&action))
    record = Record(plan.ops().size(), begun->iterations);
  if (auto* const piece = std::get_if<KeepRecord>(&action)) keep(*piece, plan, record);
}

}  // namespace weir::real
