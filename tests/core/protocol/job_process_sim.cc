#include "tests/core/protocol/job_process_sim.h"

namespace weir {

using Mistake = JobCase::Mistake;

void JobWorld::Coordinator::hear(Note note, Instant now) {
  if (world_.case_.mistake == Mistake::kAnyPlan && note.type == PlannedNote::kType)
    note = note_of(PlannedNote{std::string(kPlanHash), "", "", ""}, note.from);
  if (world_.case_.mistake == Mistake::kAnyVersion && note.type == JoinNote::kType) {
    JoinNote join = *content_of<JoinNote>(note);
    join.version = kVersion;
    note = note_of(join, note.from);
  }
  protocol_.hear(std::move(note), now);
  last_heard_ = now;
  act();
}

void JobWorld::Coordinator::tick(Instant now, Duration /*refused*/) {
  const Mistake mistake = world_.case_.mistake;
  if (mistake == Mistake::kForgetful && now - last_heard_ < kHeartbeat) return;
  if (mistake == Mistake::kEndlessMeeting && protocol_.phase() == Phase::kMeeting) return;
  if (mistake == Mistake::kEndlessClocks && protocol_.phase() == Phase::kClocks) return;
  protocol_.tick(now);
  act();
}

std::optional<Duration> JobWorld::Coordinator::limit(Phase phase) const {
  constexpr Duration kBlame{300'000'000};
  if (phase == Phase::kRunning) return std::nullopt;
  if (phase == Phase::kBlaming) return kBlame;
  if (phase == Phase::kDismissing) return kMoment;
  const JobCase& what = world_.case_;
  return phase == Phase::kPlanning ? what.patience + what.planning : what.patience;
}

void JobWorld::Coordinator::act() {
  bool anew = false;
  for (CoordinatorAction& action : protocol_.actions()) {
    if (auto* const said = std::get_if<SendNote>(&action)) {
      anew = anew || said->note.type == AskClockNote::kType;
      world_.network_.send(pid_, std::move(said->note));
    }
    if (auto* const alive = std::get_if<KeepAlive>(&action)) {
      world_.network_.keep_alive(pid_, alive->connection);
      const Pid member = std::stoul(alive->connection);
      if (start_ == 0) world_.outcomes_[world_.outcome_of_.at(member)].seated = world_.network_.now();
    }
    if (std::holds_alternative<BeginRecord>(action)) recorded_ = 0;
    if (auto* const piece = std::get_if<KeepRecord>(&action))
      recorded_ += static_cast<std::int64_t>(piece->bytes.size());
  }
  const Stops stops = world_.stops(-1, start_);
  if (!clock_.move(protocol_.phase(), anew, world_.network_.now(), stops,
                   [&](Phase phase) { return limit(phase); }))
    world_.broken_ = "the coordinator has outstayed a phase";
}

void JobWorld::Machine::hear(Note note, Instant now) {
  const bool first = !std::exchange(heard_, true);
  const bool asked = note.type == AskClockNote::kType && protocol_.phase() == Phase::kMet;
  protocol_.hear(note, now);
  act(asked || first);
}

void JobWorld::Machine::tick(Instant now, Duration refused) {
  if (world_.case_.mistake == Mistake::kHasty && protocol_.phase() == Phase::kFailing) {
    guessed_ = now - clock_.since() >= kMoment;
    return;
  }
  protocol_.tick(now, refused);
  act();
}

void JobWorld::Machine::planned(const Result<PlanReport>& planned) {
  world_.processes_[index_].listens_from = world_.network_.now();
  world_.processes_[index_].failed |= !planned;
  protocol_.planned(planned, world_.network_.now());
  act();
}

void JobWorld::Machine::connected(const Result<void>& connected) {
  world_.processes_[index_].failed |= !connected;
  protocol_.connected(connected, world_.network_.now());
  act();
}

void JobWorld::Machine::ran(const Result<DoneNote>& done) {
  world_.processes_[index_].failed |= !done;
  world_.processes_[index_].worked_until = world_.network_.now();
  protocol_.ran(done, world_.network_.now());
  act();
}

std::optional<Duration> JobWorld::Machine::limit(Phase phase) const {
  const Duration patience = world_.case_.patience;
  if (phase == Phase::kJoining || phase == Phase::kMet) return patience + kAfterLeader;
  if (phase == Phase::kConnecting) return patience;
  // It hears the coordinator, or has heard it last half a second after it failed.
  if (phase == Phase::kFailing) return kSilence + kHeartbeat;
  return std::nullopt;  // the coordinator's or the driver's
}

void JobWorld::Machine::act(bool anew) {
  SimulatedNetwork& network = world_.network_;
  const Process& process = world_.processes_[index_];
  for (MemberAction& action : protocol_.actions()) {
    if (auto* const said = std::get_if<SendNote>(&action)) network.send(process.pid, std::move(said->note));
    if (std::holds_alternative<KeepAlive>(action)) network.keep_alive(process.pid, "");
    if (std::holds_alternative<PlanInputs>(action)) world_.plan(index_);
    if (auto* const connect = std::get_if<ConnectPeers>(&action)) world_.connect(index_, connect->meet.token);
    if (auto* const run = std::get_if<RunPlan>(&action)) world_.run_plan(index_, run->begin);
  }
  Stops stops = world_.stops(process.place, process.start);
  for (auto& [begin, end] : stops) {  // after a stop, it listens anew for the coordinator
    if (clock_.phase() == Phase::kFailing) end = end + kSilence;
  }
  if (!clock_.move(protocol_.phase(), anew, network.now(), stops, [&](Phase phase) { return limit(phase); }))
    world_.broken_ = world_.name(process.place) + " has outstayed a phase";
}

}  // namespace weir
