#include "backends/real/job/coordinator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "backends/real/transport/wires.h"
#include "core/base/units_text.h"
#include "core/plan/hash.h"

namespace weir::real {
namespace {

constexpr Duration kCoordinatorSlice{100'000'000};
constexpr Duration kAhead{100'000'000};  // for `go` to reach every machine before the first iteration
constexpr const char* kNcclHint =
    "; GPUs meet through NCCL: NCCL_DEBUG=INFO has it tell how, NCCL_SOCKET_IFNAME names its network";
constexpr Duration kForEver{std::numeric_limits<std::int64_t>::max() / 2};

// Memory is brought in before anything moves, and machines may share a host. One that is slower than this has
// no memory left.
constexpr BytesPerSecond kSlowestMemory(50'000'000);
constexpr Duration kLongestPreparing{600'000'000'000};  // machines may be on hosts of their own

// Of the buffers of each machine that lie in the memory of its host.
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

// What is wrong with where it listens; empty if nothing is.
std::string place_error(const JoinNote& join, const Cluster& cluster) {
  const Machine& machine = cluster.machine(MachineId(join.machine));
  const std::size_t addresses = join.hosts.size();
  if (addresses == join.ports.size() &&
      (addresses == 1 || (addresses > 1 && addresses == machine.nics.size()))) {
    for (const std::string& host : join.hosts) {
      // A name of this host would also be taken for one that needs no seal.
      const auto reachable = check_reachable(host);
      if (!reachable)
        return fmt::format("{} listens where others cannot find it: {}", machine.name,
                           reachable.error().text);
    }
    return {};
  }
  return fmt::format("{} listens at {} addresses, and has {} NICs; give it one for each, or one for all",
                     machine.name, addresses, machine.nics.size());
}

// An all-reduce begins with the last of its ops to be submitted: a machine knows its own only.
void begin_together(const Plan& plan, Record& record) {
  for (const std::vector<OpId>& ops : plan.all_reduces()) {
    for (int i = 0; i < static_cast<int>(record.iterations.size()); ++i) {
      Instant last;
      for (const OpId op : ops) last = std::max(last, record.of(op, i).submitted);
      for (const OpId op : ops) record.of(op, i).started = std::max(record.of(op, i).started, last);
    }
  }
}

}  // namespace

template <class T>
void Coordinator::tell_all(const T& content) {
  for (const Member& member : members_) {
    if (!member.connection.empty()) socket_->send(note_of(content, member.connection));
  }
}

std::string Coordinator::missing(const Cluster& cluster) const {
  std::string names;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].answered) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", cluster.machine(MachineId(i)).name);
    if (i < settings_.hosts.size()) names += " on " + settings_.hosts[i];
  }
  return names;
}

Result<void> Coordinator::seat(const Note& note, const Cluster& cluster) {
  const auto join = content_of<JoinNote>(note);
  std::string wrong;
  if (!join) {
    wrong = join.error().text;
  } else if (join->machine < 0 || static_cast<std::size_t>(join->machine) >= members_.size()) {
    wrong = fmt::format("there is no machine {}; the cluster has {}", join->machine, members_.size());
  } else if (!members_[static_cast<std::size_t>(join->machine)].connection.empty()) {
    wrong = fmt::format("{} has joined already", cluster.machine(MachineId(join->machine)).name);
  } else if (const std::string misplaced = place_error(*join, cluster); !misplaced.empty()) {
    wrong = misplaced;
  } else if (join->version != settings_.version) {
    const std::string differs =
        fmt::format("{} runs version {}, and the coordinator {}; all must be the same",
                    cluster.machine(MachineId(join->machine)).name, join->version, settings_.version);
    socket_->send(note_of(FailedNote{differs}, note.from));  // which is no member yet, and told nothing else
    return failure(differs);
  }
  if (!wrong.empty()) {  // turned away; the job goes on without it
    socket_->send(note_of(FailedNote{wrong}, note.from));
    return {};
  }
  Member& member = members_[static_cast<std::size_t>(join->machine)];
  member.connection = note.from;
  member.silence.end(Clock::monotonic());
  socket_->keep_alive(note.from);
  member.place.hosts = join->hosts;
  member.place.ports = join->ports;
  member.answered = true;
  return {};
}

std::optional<std::size_t> Coordinator::sender(const Note& note) {
  const auto from = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.connection.empty() && member.connection == note.from;
  });
  if (from == members_.end()) return std::nullopt;
  from->silence.end(Clock::monotonic());
  return static_cast<std::size_t>(from - members_.begin());
}

Result<std::optional<Note>> Coordinator::next(const Cluster& cluster) {
  if (settings_.watch) {
    if (auto well = settings_.watch(); !well) return tl::unexpected(well.error());
  }
  auto note = socket_->receive(kCoordinatorSlice);
  if (note) return note;
  const Instant now = Clock::monotonic();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].silence.length(now) <= kSilence) continue;
    return failure(
        fmt::format("{} has said nothing for {}", cluster.machine(MachineId(i)).name, text(kSilence)));
  }
  return std::optional<Note>();
}

bool Coordinator::complete() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.answered; });
}

Result<void> Coordinator::join(const Cluster& cluster) {
  const Instant until = Clock::monotonic() + settings_.patience;
  while (!complete()) {
    if (Clock::monotonic() > until) {
      return failure(fmt::format("after {} these machines have not joined: {}{}", text(settings_.patience),
                                 missing(cluster),
                                 settings_.hosts.empty() ? "" : "; see whether the remote shell gets there"));
    }
    const auto note = next(cluster);
    if (!note) return tl::unexpected(note.error());
    if (!*note) continue;
    const auto known = sender(**note);
    if ((*note)->type == AliveNote::kType) continue;
    if ((*note)->type == FailedNote::kType) {
      const std::string why = reason_in(**note);
      return failure(known ? fmt::format("{}: {}", cluster.machine(MachineId(*known)).name, why) : why);
    }
    if (auto seated = seat(**note, cluster); !seated) return seated;
  }
  return {};
}

template <class T>
Result<void> Coordinator::gather(
    const Cluster& cluster, const Wait& wait, const std::function<Result<void>(std::size_t, const T&)>& take,
    const std::function<Result<void>(std::size_t, const RecordNote&, const Note&)>& aside) {
  const Instant until = Clock::monotonic() + wait.patience;
  for (Member& member : members_) member.answered = false;
  const auto take_note = [&](std::size_t machine, const Note& note) -> Result<void> {
    if (aside && note.type == RecordNote::kType) {
      const auto content = content_of<RecordNote>(note);
      return content ? aside(machine, *content, note) : tl::unexpected(content.error());
    }
    const auto content = content_of<T>(note);
    if (!content) return tl::unexpected(content.error());
    members_[machine].answered = true;
    return take(machine, *content);
  };
  while (!complete()) {
    if (Clock::monotonic() > until) {
      return failure(fmt::format("after {} these machines have not said '{}': {}{}", rounded(wait.patience),
                                 T::kType, missing(cluster), wait.hint));
    }
    const auto note = next(cluster);
    if (!note) return tl::unexpected(note.error());
    if (!*note) continue;
    const auto machine = sender(**note);
    if ((*note)->type == AliveNote::kType) continue;
    if (!machine) {
      socket_->send(note_of(FailedNote{"the job has begun without it"}, (*note)->from));
      continue;
    }
    const std::string& name = cluster.machine(MachineId(*machine)).name;
    if ((*note)->type == FailedNote::kType) return failure(fmt::format("{}: {}", name, reason_in(**note)));
    if (members_[*machine].answered) continue;  // what it says again counts once
    if (auto taken = take_note(*machine, **note); !taken)
      return failure(fmt::format("{}: {}", name, taken.error().text));
  }
  return {};
}

// As NTP does it: of several answers the one that came back soonest says most. Clocks that may be the same
// are taken to be.
Result<void> Coordinator::compare_clocks(const Cluster& cluster) {
  constexpr int kRounds = 8;
  std::vector<Duration> soonest(members_.size(), kForEver);
  for (int round = 0; round < kRounds; ++round) {
    const Instant asked = Clock::monotonic();
    const auto compare = [&](std::size_t machine, const ClockNote& clock) -> Result<void> {
      const Duration took = Clock::monotonic() - asked;
      if (took >= soonest[machine]) return {};
      soonest[machine] = took;
      const Duration ahead = Instant(clock.at) - (asked + took / 2);
      members_[machine].clock = std::max(ahead, Duration(0) - ahead) <= took / 2 ? Duration(0) : ahead;
      return {};
    };
    tell_all(AskClockNote{});
    auto answered = gather<ClockNote>(cluster, {settings_.patience, {}}, compare);
    if (!answered) return answered;
  }
  return {};
}

// The bytes of a piece go where they belong: iterations stand apart in the whole record.
Result<void> Coordinator::take_piece(std::size_t machine, const RecordNote& piece, const Note& note,
                                     const Plan& plan, Record& record) {
  const auto ops = plan.ops(MachineId(machine));
  const std::size_t each = ops.size() * sizeof(OpRecord);
  const std::size_t whole = each * record.iterations.size();
  std::size_t& at = members_[machine].recorded;
  if (static_cast<std::size_t>(piece.at) != at || note.body.size() > whole - at) {
    return failure(fmt::format("bytes {} to {} of its record came instead of more from byte {} up to {}",
                               piece.at, static_cast<std::size_t>(piece.at) + note.body.size(), at, whole));
  }
  for (std::size_t taken = 0; taken < note.body.size();) {
    const std::size_t within = at % each;
    const std::size_t bytes = std::min(note.body.size() - taken, each - within);
    auto* const first = reinterpret_cast<std::byte*>(&record.iterations[at / each][ops.front().id.index()]);
    std::memcpy(first + within, note.body.data() + taken, bytes);  // NOLINT: plain numbers
    taken += bytes;
    at += bytes;
  }
  return {};
}

Result<JobResult> Coordinator::collect(const Plan& plan, const Cluster& cluster, int iterations) {
  JobResult result;
  result.record = Record(plan.ops().size(), iterations);
  for (Member& member : members_) member.recorded = 0;
  const auto piece = [&](std::size_t machine, const RecordNote& content, const Note& note) {
    return take_piece(machine, content, note, plan, result.record);
  };
  const auto end = [&](std::size_t machine, const DoneNote& done) -> Result<void> {
    const std::size_t whole =
        plan.ops(MachineId(machine)).size() * sizeof(OpRecord) * static_cast<std::size_t>(iterations);
    if (members_[machine].recorded != whole) {
      return failure(
          fmt::format("a record of {} bytes came instead of {}", members_[machine].recorded, whole));
    }
    result.checked += done.checked;
    for (const auto& [transport, peers] : done.transports) {
      if (peers > static_cast<int>(members_.size()) || find_wire(transport) == nullptr)
        return failure(fmt::format("it tells of {} peers over '{}'", peers, transport));
      result.transports[transport] += peers;
    }
    for (const auto& [why, peers] : done.on_tcp) result.on_tcp[why] += peers;
    return {};
  };
  if (auto done = gather<DoneNote>(cluster, {kForEver, {}}, end, piece); !done)
    return tl::unexpected(done.error());
  begin_together(plan, result.record);
  for (auto& [transport, ends] : result.transports) ends /= 2;
  return result;
}

// One machine's end makes others fail, which may be told first.
std::optional<Error> Coordinator::root_cause() const {
  constexpr Duration kMoment{300'000'000};
  const Instant until = Clock::monotonic() + kMoment;
  while (settings_.watch && Clock::monotonic() < until) {
    if (const auto well = settings_.watch(); !well) return well.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

Result<JobResult> Coordinator::run(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) {
  members_.assign(cluster.machines().size(), {});
  clique_.clear();
  auto result = lead(inputs, plan, cluster);
  if (result) return result;
  if (const auto why = root_cause()) result = tl::unexpected(*why);
  tell_all(FailedNote{result.error().text});
  turn_away(result.error());
  return result;
}

// They were started together with those that have joined, and would wait for nothing.
void Coordinator::turn_away(const Error& why) {
  constexpr Duration kMoment{1'000'000'000};
  const Instant until = Clock::monotonic() + kMoment;
  const auto absent = [](const Member& member) { return member.connection.empty(); };
  while (std::any_of(members_.begin(), members_.end(), absent) && Clock::monotonic() < until) {
    const auto note = socket_->receive(kCoordinatorSlice);
    if (!note || note->type != JoinNote::kType) continue;
    socket_->send(note_of(FailedNote{"the job has failed: " + why.text}, note->from));
    const auto join = content_of<JoinNote>(*note);
    if (!join || join->machine < 0 || static_cast<std::size_t>(join->machine) >= members_.size()) continue;
    members_[static_cast<std::size_t>(join->machine)].connection = note->from;
  }
}

Coordinator::Wait Coordinator::planning(const InputsNote& inputs, const Plan& plan,
                                        const Cluster& cluster) const {
  const std::vector<Bytes> memory = host_memory(inputs, plan, cluster);
  const Bytes all = std::accumulate(memory.begin(), memory.end(), Bytes(0));
  return {
      settings_.patience + std::min(all / kSlowestMemory, kLongestPreparing),
      fmt::format("; each plans and then prepares its memory, up to {} of it, all machines {}: --patience "
                  "waits longer, a smaller model or fewer machines need less",
                  rounded(*std::max_element(memory.begin(), memory.end())), rounded(all))};
}

Result<JobResult> Coordinator::lead(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) {
  // As JSON within JSON it may become twice as long.
  constexpr std::int64_t kMost = kLargestNote.count() / 2;
  if (static_cast<std::int64_t>(inputs.experiment.size()) > kMost) {
    return failure(
        fmt::format("the experiment has {} bytes with its topology and trace, and a job's has at "
                    "most {}; try a trace with fewer tensors",
                    inputs.experiment.size(), kMost));
  }
  if (auto joined = join(cluster); !joined) return tl::unexpected(joined.error());
  if (settings_.joined) settings_.joined();
  tell_all(inputs);
  const std::string hash = plan_hash(plan);
  const auto compare = [&](std::size_t machine, const PlannedNote& planned) -> Result<void> {
    members_[machine].place.reach = planned.reach;
    members_[machine].place.local = planned.local;
    if (!planned.clique.empty()) clique_ = planned.clique;
    if (planned.hash == hash) return {};
    return failure("it has made another plan of the same inputs: its program is another build");
  };
  if (auto planned = gather<PlannedNote>(cluster, planning(inputs, plan, cluster), compare); !planned)
    return tl::unexpected(planned.error());

  std::int64_t checked = 0;
  if (inputs.verify == Verify::kFirst) {
    const auto first = run_together(plan, cluster, 1);
    if (!first) return tl::unexpected(first.error());
    checked = first->checked;
  }
  auto result = run_together(plan, cluster, inputs.iterations);
  if (!result) return result;
  result->checked += checked;
  tell_all(GoodbyeNote{});
  return result;
}

Result<JobResult> Coordinator::run_together(const Plan& plan, const Cluster& cluster, int iterations) {
  MeetNote meet;
  for (const Member& member : members_) meet.machines.push_back(member.place);
  const auto token = make_token();
  if (!token) return tl::unexpected(token.error());
  meet.token = hexadecimal(*token);
  meet.clique = clique_;
  tell_all(meet);
  const auto pass = [](std::size_t, const MetNote&) -> Result<void> { return {}; };
  if (auto met = gather<MetNote>(cluster, {settings_.patience, meet.clique.empty() ? "" : kNcclHint}, pass);
      !met)
    return tl::unexpected(met.error());

  if (auto compared = compare_clocks(cluster); !compared) return tl::unexpected(compared.error());

  const Instant begin = Clock::monotonic() + kAhead;
  for (const Member& member : members_)
    socket_->send(note_of(GoNote{(begin + member.clock).ns()}, member.connection));
  return collect(plan, cluster, iterations);
}

}  // namespace weir::real
