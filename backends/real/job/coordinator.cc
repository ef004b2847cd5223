#include "backends/real/job/coordinator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "backends/real/clock.h"
#include "backends/real/job/host.h"
#include "backends/real/links.h"
#include "core/base/units_text.h"
#include "core/plan/hash.h"

namespace weir::real {
namespace {

constexpr Duration kSlice{100'000'000};
constexpr Duration kAhead{100'000'000};  // for `go` to reach every machine before the first iteration
constexpr Duration kForEver{std::numeric_limits<std::int64_t>::max() / 2};

// What is wrong with where it listens; empty if nothing is.
std::string place_error(const JoinNote& join, const Cluster& cluster) {
  const Machine& machine = cluster.machine(MachineId(join.machine));
  const std::size_t addresses = join.hosts.size();
  if (addresses == join.ports.size() &&
      (addresses == 1 || (addresses > 1 && addresses == machine.nics.size())))
    return {};
  return fmt::format("{} listens at {} addresses, and has {} NICs; give it one for each, or one for all",
                     machine.name, addresses, machine.nics.size());
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
    return failure(misplaced);
  } else if (join->version != settings_.version) {
    return failure(fmt::format("{} runs version {}, and the coordinator {}; all must be the same",
                               cluster.machine(MachineId(join->machine)).name, join->version,
                               settings_.version));
  }
  if (!wrong.empty()) {  // turned away; the job goes on without it
    socket_->send(note_of(FailedNote{wrong}, note.from));
    return {};
  }
  Member& member = members_[static_cast<std::size_t>(join->machine)];
  member.connection = note.from;
  member.place.hosts = join->hosts;
  member.place.ports = join->ports;
  member.answered = true;
  return {};
}

Result<void> Coordinator::join(const Cluster& cluster) {
  const Instant until = Clock::monotonic() + settings_.patience;
  while (
      !std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.answered; })) {
    if (settings_.watch) {
      if (auto well = settings_.watch(); !well) return well;
    }
    if (Clock::monotonic() > until) {
      return failure(fmt::format("after {} these machines have not joined: {}", text(settings_.patience),
                                 missing(cluster)));
    }
    const auto note = socket_->receive(kSlice);
    if (!note) continue;
    if (note->type == FailedNote::kType) return failure(reason_in(*note));
    if (auto seated = seat(*note, cluster); !seated) return seated;
  }
  return {};
}

template <class T>
Result<void> Coordinator::gather(
    const Cluster& cluster, Duration silence, Duration patience,
    const std::function<Result<void>(std::size_t, const T&, const Note&)>& take) {
  const Instant until = Clock::monotonic() + patience;
  Instant told = Clock::monotonic();
  for (Member& member : members_) {
    member.answered = false;
    member.heard = told;
  }
  const auto whole = [&] {
    return std::all_of(members_.begin(), members_.end(),
                       [](const Member& member) { return member.answered; });
  };
  while (!whole()) {
    if (settings_.watch) {
      if (auto well = settings_.watch(); !well) return well;
    }
    const Instant now = Clock::monotonic();
    if (now - told > Duration(1'000'000'000)) {
      tell_all(AliveNote{});
      told = now;
    }
    if (now > until) {
      return failure(fmt::format("after {} these machines have not said '{}': {}", text(patience), T::kType,
                                 missing(cluster)));
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].answered || now - members_[i].heard <= silence) continue;
      return failure(
          fmt::format("{} has said nothing for {}", cluster.machine(MachineId(i)).name, text(silence)));
    }
    const auto note = socket_->receive(kSlice);
    if (!note) continue;
    const auto from = std::find_if(members_.begin(), members_.end(),
                                   [&](const Member& member) { return member.connection == note->from; });
    if (from == members_.end()) {
      socket_->send(note_of(FailedNote{"the job has begun without it"}, note->from));
      continue;
    }
    from->heard = Clock::monotonic();
    if (note->type == AliveNote::kType) continue;
    const auto machine = static_cast<std::size_t>(from - members_.begin());
    const std::string& name = cluster.machine(MachineId(machine)).name;
    if (note->type == FailedNote::kType) return failure(fmt::format("{}: {}", name, reason_in(*note)));
    const auto content = content_of<T>(*note);
    if (!content) return failure(fmt::format("{}: {}", name, content.error().text));
    if (auto taken = take(machine, *content, *note); !taken) return taken;
    from->answered = true;
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
    const auto compare = [&](std::size_t machine, const ClockNote& clock, const Note&) -> Result<void> {
      const Duration took = Clock::monotonic() - asked;
      if (took >= soonest[machine]) return {};
      soonest[machine] = took;
      const Duration ahead = Instant(clock.at) - (asked + took / 2);
      members_[machine].clock = std::max(ahead, Duration(0) - ahead) <= took / 2 ? Duration(0) : ahead;
      return {};
    };
    tell_all(AskClockNote{});
    auto answered = gather<ClockNote>(cluster, kForEver, settings_.patience, compare);
    if (!answered) return answered;
  }
  return {};
}

Result<void> Coordinator::take_record(std::size_t machine, const Note& note, const Plan& plan,
                                      Record& record) const {
  const auto ops = plan.ops(MachineId(machine));
  const std::size_t size = ops.size() * record.iterations.size() * sizeof(OpRecord);
  if (note.body.size() != size) {
    return failure(fmt::format("a record of {} bytes came instead of {}", note.body.size(), size));
  }
  const char* at = note.body.data();
  for (auto& iteration : record.iterations) {
    if (ops.empty()) break;
    std::memcpy(static_cast<void*>(&iteration[ops.front().id.index()]), at, ops.size() * sizeof(OpRecord));
    at += ops.size() * sizeof(OpRecord);
  }
  return {};
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
  auto result = lead(inputs, plan, cluster);
  if (result) return result;
  if (const auto why = root_cause()) result = tl::unexpected(*why);
  tell_all(FailedNote{result.error().text});
  return result;
}

Result<JobResult> Coordinator::lead(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) {
  if (auto joined = join(cluster); !joined) return tl::unexpected(joined.error());
  if (settings_.joined) settings_.joined();
  tell_all(inputs);
  const std::string hash = plan_hash(plan);
  const auto compare = [&](std::size_t machine, const PlannedNote& planned, const Note&) -> Result<void> {
    members_[machine].place.reach = planned.reach;
    members_[machine].place.local = planned.local;
    if (planned.hash == hash) return {};
    return failure(fmt::format("{} has made another plan of the same inputs: its program is another build",
                               cluster.machine(MachineId(machine)).name));
  };
  if (auto planned = gather<PlannedNote>(cluster, kForEver, settings_.patience, compare); !planned)
    return tl::unexpected(planned.error());

  MeetNote meet;
  for (const Member& member : members_) meet.machines.push_back(member.place);
  const auto token = make_token();
  if (!token) return tl::unexpected(token.error());
  meet.token = hexadecimal(*token);
  tell_all(meet);
  const auto pass = [](std::size_t, const MetNote&, const Note&) -> Result<void> { return {}; };
  if (auto met = gather<MetNote>(cluster, kForEver, settings_.patience, pass); !met)
    return tl::unexpected(met.error());

  if (auto compared = compare_clocks(cluster); !compared) return tl::unexpected(compared.error());

  const Instant begin = Clock::monotonic() + kAhead;
  for (const Member& member : members_)
    socket_->send(note_of(GoNote{(begin + member.clock).ns()}, member.connection));
  JobResult result;
  result.record = Record(plan.ops().size(), inputs.iterations);
  const auto collect = [&](std::size_t machine, const DoneNote& done, const Note& note) -> Result<void> {
    result.checked += done.checked;
    return take_record(machine, note, plan, result.record);
  };
  if (auto done = gather<DoneNote>(cluster, settings_.silence, kForEver, collect); !done)
    return tl::unexpected(done.error());
  tell_all(GoodbyeNote{});
  return result;
}

}  // namespace weir::real
