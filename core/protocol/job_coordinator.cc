#include "core/protocol/job_coordinator.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

constexpr Duration kAhead{100'000'000};  // time for `go` to reach every machine before the first iteration
constexpr Duration kBlame{300'000'000};  // time to learn from whoever watches the processes which one ended
constexpr int kClockRounds = 8;
constexpr Duration kNever{std::numeric_limits<std::int64_t>::max() / 2};

}  // namespace

JobCoordinator::JobCoordinator(JobTerms terms, Instant now)
    : terms_(std::move(terms)),
      until_(now + terms_.patience),
      looked_(now),
      still_(now),
      members_(terms_.seats.size()) {
  WEIR_CHECK(terms_.tokens.size() == (terms_.ahead ? 2U : 1U), terms_.tokens.size());
}

template <class T>
void JobCoordinator::send_to_all(const T& content) {
  for (const Member& member : members_) {
    if (!member.connection.empty()) send(note_of(content, member.connection));
  }
}

// Notes that the sender has been heard, and returns its machine; none if the sender is no member.
std::optional<std::size_t> JobCoordinator::sender(const Note& note, Instant now) {
  const auto from = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.connection.empty() && member.connection == note.from;
  });
  if (from == members_.end()) return std::nullopt;
  from->silence.end(now);
  return static_cast<std::size_t>(from - members_.begin());
}

bool JobCoordinator::complete() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.answered; });
}

std::string JobCoordinator::missing() const {
  std::string names;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].answered) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", terms_.seats[i].name);
    if (!terms_.seats[i].host.empty()) names += " on " + terms_.seats[i].host;
  }
  return names;
}

void JobCoordinator::enter(Phase phase, Duration patience, Instant now) {
  phase_ = phase;
  until_ = patience == kNever ? std::nullopt : std::optional(now + patience);
  for (Member& member : members_) member.answered = false;
}

// Called when all have answered in this phase.
void JobCoordinator::advance(Instant now) {
  if (phase_ == Phase::kJoining) {
    actions_.emplace_back(AllJoined{});
    for (const Member& member : members_) {
      Note inputs = terms_.inputs;
      inputs.from = member.connection;
      send(std::move(inputs));
    }
    return enter(Phase::kPlanning, terms_.planning, now);
  }
  if (phase_ == Phase::kPlanning) return meet(now);
  if (phase_ == Phase::kMeeting || (phase_ == Phase::kClocks && rounds_ < kClockRounds))
    return ask_clocks(now);
  if (phase_ == Phase::kClocks) return go(now);
  if (meetings_ < terms_.tokens.size()) return meet(now);
  send_to_all(GoodbyeNote{});
  phase_ = Phase::kOver;
}

void JobCoordinator::meet(Instant now) {
  MeetNote note;
  for (const Member& member : members_) note.machines.push_back(member.place);
  note.token = terms_.tokens[meetings_++];
  note.clique = clique_;
  send_to_all(note);
  rounds_ = 0;
  for (Member& member : members_) member.soonest = kNever;
  enter(Phase::kMeeting, terms_.patience, now);
}

void JobCoordinator::ask_clocks(Instant now) {
  ++rounds_;
  asked_ = now;
  send_to_all(AskClockNote{});
  enter(Phase::kClocks, terms_.patience, now);
}

void JobCoordinator::go(Instant now) {
  const Instant begin = now + kAhead;
  for (Member& member : members_) {
    member.recorded = 0;
    send(note_of(GoNote{(begin + member.clock).ns()}, member.connection));
  }
  const bool ahead = terms_.ahead && meetings_ == 1;
  actions_.emplace_back(BeginRecord{ahead ? 1 : terms_.iterations});
  // How messages moved is reported for the recorded iterations only.
  tally_.transports.clear();
  tally_.on_tcp.clear();
  enter(Phase::kRunning, kNever, now);
}

void JobCoordinator::hear(Note note, Instant now) {
  still_.notice(now);
  switch (phase_) {
    case Phase::kJoining:
      return hear_joining(note, now);
    case Phase::kPlanning:
    case Phase::kMeeting:
    case Phase::kClocks:
    case Phase::kRunning:
      return hear_step(std::move(note), now);
    case Phase::kBlaming:
      if (note.type == JoinNote::kType) late_.push_back(std::move(note));
      return;
    case Phase::kDismissing:
      return turn_away(note);
    case Phase::kOver:
      return;
  }
}

void JobCoordinator::hear_joining(const Note& note, Instant now) {
  const auto known = sender(note, now);
  if (note.type == AliveNote::kType) return;
  if (note.type == FailedNote::kType) {
    const std::string why = reason_in(note);
    return fail(Error{known ? fmt::format("{}: {}", terms_.seats[*known].name, why) : why}, now);
  }
  seat(note, now);
  if (phase_ == Phase::kJoining && complete()) advance(now);
}

// What is wrong with the addresses where it listens; empty if nothing is.
std::string JobCoordinator::misplaced(const JoinNote& join) const {
  const JobTerms::Seat& seat = terms_.seats[static_cast<std::size_t>(join.machine)];
  const std::size_t addresses = join.hosts.size();
  if (addresses != join.ports.size() || addresses == 0 || (addresses > 1 && addresses != seat.nics)) {
    return fmt::format("{} listens at {} addresses, but has {} NICs; give it one for each, or one for all",
                       seat.name, addresses, seat.nics);
  }
  for (const std::string& host : join.hosts) {
    // A local name of this host would also pass for a connection that needs no encryption.
    const auto reachable = terms_.check_host(host);
    if (!reachable)
      return fmt::format("{} listens where others cannot find it: {}", seat.name, reachable.error().text);
  }
  return {};
}

void JobCoordinator::seat(const Note& note, Instant now) {
  const auto join = content_of<JoinNote>(note);
  std::string wrong;
  if (!join) {
    wrong = join.error().text;
  } else if (join->machine < 0 || static_cast<std::size_t>(join->machine) >= members_.size()) {
    wrong = fmt::format("there is no machine {}; the cluster has {}", join->machine, members_.size());
  } else if (!members_[static_cast<std::size_t>(join->machine)].connection.empty()) {
    wrong = fmt::format("{} has joined already", terms_.seats[static_cast<std::size_t>(join->machine)].name);
  } else if (const std::string misplaced = this->misplaced(*join); !misplaced.empty()) {
    wrong = misplaced;
  } else if (join->version != terms_.version) {
    wrong = fmt::format("{} runs version {}, but the coordinator runs {}; all must be the same",
                        terms_.seats[static_cast<std::size_t>(join->machine)].name, join->version,
                        terms_.version);
    send(note_of(FailedNote{wrong}, note.from));  // it is no member yet, so nothing else informs it
    return fail(Error{wrong}, now);
  }
  if (!wrong.empty()) return send(note_of(FailedNote{wrong}, note.from));  // the job continues without it
  Member& member = members_[static_cast<std::size_t>(join->machine)];
  member.connection = note.from;
  member.silence.end(now);
  actions_.emplace_back(KeepAlive{note.from});
  member.place.hosts = join->hosts;
  member.place.ports = join->ports;
  member.answered = true;
}

void JobCoordinator::hear_step(Note note, Instant now) {
  const auto machine = sender(note, now);
  if (note.type == AliveNote::kType) return;
  if (!machine) return send(note_of(FailedNote{"the job has begun without it"}, note.from));
  const std::string& name = terms_.seats[*machine].name;
  if (note.type == FailedNote::kType) return fail(Error{fmt::format("{}: {}", name, reason_in(note))}, now);
  if (members_[*machine].answered) return;  // repetitions do not count
  if (auto taken = take(*machine, std::move(note), now); !taken)
    return fail(Error{fmt::format("{}: {}", name, taken.error().text)}, now);
  if (complete()) advance(now);
}

// Handles the first answer of a machine in this phase.
Result<void> JobCoordinator::take(std::size_t machine, Note note, Instant now) {
  const auto answer = [&]<class T>(const Result<T>& content, const auto& take_it) -> Result<void> {
    if (!content) return tl::unexpected(content.error());
    members_[machine].answered = true;
    return take_it(*content);
  };
  if (phase_ == Phase::kPlanning)
    return answer(content_of<PlannedNote>(note), [&](const auto& said) { return take_plan(machine, said); });
  if (phase_ == Phase::kMeeting)
    return answer(content_of<MetNote>(note), [](const auto&) { return Result<void>(); });
  if (phase_ == Phase::kClocks)
    return answer(content_of<ClockNote>(note),
                  [&](const auto& said) { return take_clock(machine, said, now); });
  if (note.type == RecordNote::kType) {
    const auto piece = content_of<RecordNote>(note);
    return piece ? take_record(machine, *piece, std::move(note)) : tl::unexpected(piece.error());
  }
  return answer(content_of<DoneNote>(note), [&](const auto& said) { return take_end(machine, said); });
}

Result<void> JobCoordinator::take_plan(std::size_t machine, const PlannedNote& planned) {
  members_[machine].place.reach = planned.reach;
  members_[machine].place.local = planned.local;
  if (!planned.clique.empty()) clique_ = planned.clique;
  if (planned.hash == terms_.hash) return {};
  return failure("it made a different plan from the same inputs: its program is a different build");
}

// As in NTP, the answer with the shortest round trip counts. Clocks that may be the same are assumed to be
// the same.
Result<void> JobCoordinator::take_clock(std::size_t machine, const ClockNote& clock, Instant now) {
  Member& member = members_[machine];
  const Duration took = now - asked_;
  if (took >= member.soonest) return {};
  member.soonest = took;
  const Duration ahead = Instant(clock.at) - (asked_ + took / 2);
  member.clock = std::max(ahead, Duration(0) - ahead) <= took / 2 ? Duration(0) : ahead;
  return {};
}

Result<void> JobCoordinator::take_record(std::size_t machine, const RecordNote& piece, Note note) {
  const bool ahead = terms_.ahead && meetings_ == 1;
  const std::int64_t whole = terms_.seats[machine].record_size * (ahead ? 1 : terms_.iterations);
  std::int64_t& at = members_[machine].recorded;
  const auto size = static_cast<std::int64_t>(note.body.size());
  if (piece.at != at || size > whole - at) {
    return failure(fmt::format("it sent bytes {} to {} of its record; expected bytes from {} up to {}",
                               piece.at, piece.at + size, at, whole));
  }
  actions_.emplace_back(KeepRecord{machine, at, std::move(note.body)});
  at += size;
  return {};
}

Result<void> JobCoordinator::take_end(std::size_t machine, const DoneNote& done) {
  const bool ahead = terms_.ahead && meetings_ == 1;
  const std::int64_t whole = terms_.seats[machine].record_size * (ahead ? 1 : terms_.iterations);
  if (members_[machine].recorded != whole) {
    return failure(
        fmt::format("it sent a record of {} bytes; expected {}", members_[machine].recorded, whole));
  }
  tally_.checked += done.checked;
  for (const auto& [transport, peers] : done.transports) {
    const auto known = std::find(terms_.wires.begin(), terms_.wires.end(), transport);
    if (peers > static_cast<int>(members_.size()) || known == terms_.wires.end())
      return failure(fmt::format("it reports {} peers over '{}'", peers, transport));
    tally_.transports[transport] += peers;
  }
  for (const auto& [why, peers] : done.on_tcp) tally_.on_tcp[why] += peers;
  return {};
}

void JobCoordinator::tick(Instant now) {
  still_.notice(now);
  looked_ = now;
  if (active()) return check_deadline(now);
  if (phase_ == Phase::kBlaming && now >= *until_) return dismiss(now);
  if (phase_ == Phase::kDismissing && now >= *until_) phase_ = Phase::kOver;
}

void JobCoordinator::check_deadline(Instant now) {
  if (until_ && now > *until_) {
    if (phase_ == Phase::kJoining) {
      const bool remote = std::any_of(terms_.seats.begin(), terms_.seats.end(),
                                      [](const JobTerms::Seat& seat) { return !seat.host.empty(); });
      return fail(Error{fmt::format("after {} these machines have not joined: {}{}", text(terms_.patience),
                                    missing(), remote ? "; check that the remote shell reaches them" : "")},
                  now);
    }
    const bool planning = phase_ == Phase::kPlanning;
    const std::string_view said = planning                    ? PlannedNote::kType
                                  : phase_ == Phase::kMeeting ? MetNote::kType
                                                              : ClockNote::kType;
    const std::string hint = planning                                        ? terms_.planning_hint
                             : phase_ == Phase::kMeeting && !clique_.empty() ? terms_.gpu_hint
                                                                             : std::string();
    return fail(
        Error{fmt::format("after {} these machines have not sent '{}': {}{}",
                          rounded(planning ? terms_.planning : terms_.patience), said, missing(), hint)},
        now);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].silence.length(now) <= kSilence) continue;
    return fail(Error{fmt::format("{} has said nothing for {}", terms_.seats[i].name, text(kSilence))}, now);
  }
}

Instant JobCoordinator::wake() const {
  const Instant look = looked_ + kLook;
  return until_ ? std::min(look, *until_ + Duration(1)) : look;
}

// When one machine ends, others fail because of it, and their failures may be heard first. So whoever watches
// the processes is asked.
void JobCoordinator::fail(const Error& why, Instant now) {
  error_ = why;
  // If the coordinator stood still, machines may have taken it for lost, and then one another when the first
  // of them left.
  if (const auto still = still_.recently(now)) {
    error_->text += fmt::format(
        "; the coordinator itself stood still for {}, so machines may have given it up", rounded(*still));
  }
  phase_ = Phase::kBlaming;
  until_ = now + kBlame;
  if (!terms_.watched) dismiss(now);
}

void JobCoordinator::stop(const Error& why, Instant now) {
  if (phase_ > Phase::kBlaming) return;
  error_ = why;
  dismiss(now);
}

// Machines that join now were started together with the others, and would wait in vain.
void JobCoordinator::dismiss(Instant now) {
  send_to_all(FailedNote{error_->text});
  phase_ = Phase::kDismissing;
  until_ = now + kMoment;
  for (const Note& note : std::exchange(late_, {})) turn_away(note);
  if (std::none_of(members_.begin(), members_.end(),
                   [](const Member& member) { return member.connection.empty(); }))
    phase_ = Phase::kOver;
}

void JobCoordinator::turn_away(const Note& note) {
  if (note.type != JoinNote::kType) return;
  send(note_of(FailedNote{"the job has failed: " + error_->text}, note.from));
  const auto join = content_of<JoinNote>(note);
  if (!join || join->machine < 0 || static_cast<std::size_t>(join->machine) >= members_.size()) return;
  members_[static_cast<std::size_t>(join->machine)].connection = note.from;
  if (std::none_of(members_.begin(), members_.end(),
                   [](const Member& member) { return member.connection.empty(); }))
    phase_ = Phase::kOver;
}

}  // namespace weir
