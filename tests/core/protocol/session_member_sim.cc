#include "tests/core/protocol/session_member_sim.h"

#include "core/base/units_text.h"

namespace weir {

// The note as a leader with a planted mistake takes it.
Note SimulatedSession::Leader::mistaken(Note note) {
  if (session_.case_.mistake == Mistake::kAnyPlan && note.type == OpenedNote::kType)
    return note_of(OpenedNote{content_of<OpenedNote>(note)->group, kSessionHash}, note.from);
  if (session_.case_.mistake == Mistake::kAnyVersion && note.type == SeatNote::kType) {
    SeatNote seat = *content_of<SeatNote>(note);
    seat.version = kSessionVersion;
    return note_of(seat, note.from);
  }
  return note;
}

void SimulatedSession::Leader::hear(Note note, Instant now) {
  if (note.type == SeatNote::kType && !content_of<SeatNote>(note)->server) ranks_.insert(note.from);
  note = mistaken(std::move(note));
  if (session_.case_.mistake == Mistake::kFirstLeaves && note.type == LeaveNote::kType) {
    for (const std::string& rank : ranks_) protocol_.hear(note_of(LeaveNote{}, rank), now);
  }
  protocol_.hear(note, now);
  act();
}

void SimulatedSession::Leader::act() {
  SimulatedNetwork& network = session_.network_;
  for (bool any = true; any;) {
    std::vector<LeaderAction> actions = protocol_.actions();
    any = !actions.empty();
    for (LeaderAction& action : actions) {
      if (auto* const said = std::get_if<SendNote>(&action)) {
        const bool refusal = said->note.type == RefuseNote::kType && said->note.from != *ranks_.begin();
        const bool kept =
            (session_.case_.mistake == Mistake::kKeepsRefusal && refusal) ||
            (session_.case_.mistake == Mistake::kNeverWatches && said->note.type == WatchNote::kType);
        if (!kept) network.send(pid_, std::move(said->note));
      }
      if (auto* const alive = std::get_if<KeepAlive>(&action)) {
        network.keep_alive(pid_, alive->connection);
        const Pid member = std::stoul(alive->connection);
        if (start_ == 0) session_.outcomes_[session_.outcome_of_.at(member)].placed = network.now();
      }
      if (std::holds_alternative<AllSeated>(action))
        protocol_.welcome({"", std::string(kWelcome), fmt::format("{}", start_), ""});
    }
  }
  const auto limit = [&](SessionLeader::Phase phase) {
    return phase == SessionLeader::Phase::kSeating ? std::optional(session_.case_.patience) : std::nullopt;
  };
  if (!clock_.move(protocol_.phase(), false, network.now(), session_.stops(0, start_), limit))
    session_.broken_ = "the leader has outstayed a phase";
}

void SimulatedSession::Member::hear(Note note, Instant now) {
  const bool first = !std::exchange(heard_, true);
  protocol_.hear(note, now);
  act(first);
}

void SimulatedSession::Member::tick(Instant now, Duration /*refused*/) {
  const bool failing = protocol_.phase() == SessionFollower::Phase::kFailing;
  if (session_.case_.mistake == Mistake::kHasty && failing) {
    guessed_ = now - clock_.since() >= kMoment;
    return;
  }
  protocol_.tick(now);
  use(now);
  act();
}

void SimulatedSession::Member::fail(const std::string& why) {
  if (!failed_at_) failed_at_ = session_.network_.now();
  protocol_.fail(Error{why}, session_.network_.now());
  act();
}

std::optional<Duration> SimulatedSession::Member::limit(SessionFollower::Phase phase) const {
  using Phase = SessionFollower::Phase;
  const SessionCase& what = session_.case_;
  const SessionFault* const slow = session_.fault(Kind::kSlow, place_);
  const Duration planning = what.opening + (slow != nullptr ? slow->time : Duration(0));
  if (phase == Phase::kSeating) return what.patience + kAfterLeader;
  if (phase == Phase::kOpening) return planning + what.patience + what.opening;
  // It hears the leader, or has heard it last half a second after it failed. It hears nothing while it plans.
  if (phase == Phase::kFailing) return planning + kSilence + kHeartbeat + (slow ? kSilence : Duration(0));
  return std::nullopt;
}

void SimulatedSession::Member::act(bool anew) {
  SimulatedNetwork& network = session_.network_;
  for (bool any = true; any;) {
    std::vector<FollowerAction> actions = protocol_.actions();
    any = !actions.empty();
    for (FollowerAction& action : actions) {
      if (auto* const said = std::get_if<SendNote>(&action)) network.send(pid_, std::move(said->note));
      if (std::holds_alternative<KeepAlive>(action)) network.keep_alive(pid_, "");
      if (auto* const make = std::get_if<MakeLayout>(&action)) {
        welcome_ = make->welcome.text;
        session_.outcomes_[session_.outcome_of_.at(pid_)].seated = true;
        protocol_.welcomed(static_cast<std::size_t>(session_.case_.ranks), network.now());
      }
      if (auto* const group = std::get_if<OpenGroup>(&action)) {
        if (group->open.token.rfind(welcome_ + ".", 0) != 0)
          session_.broken_ = session_.name(place_) + " opens a group of another leader";
        planning_ = true;
        session_.open(index_, group->open);
      }
      if (auto* const begun = std::get_if<BeginGroup>(&action)) session_.begin(groups_[begun->group]);
      if (auto* const tensor = std::get_if<TensorNews>(&action)) news(*tensor);
    }
  }
  Stops stops = session_.stops(place_, start_);
  for (auto& [begin, end] : stops) {  // after a stop, it listens anew for the leader
    if (clock_.phase() == SessionFollower::Phase::kFailing) end = end + kSilence;
  }
  if (!clock_.move(protocol_.phase(), anew, network.now(), stops,
                   [&](SessionFollower::Phase phase) { return limit(phase); }))
    session_.broken_ = session_.name(place_) + " has outstayed a phase";
}

void SimulatedSession::Member::news(const TensorNews& news) {
  if (const auto* const refused = std::get_if<RefuseNote>(&news)) refused_.insert(refused->name);
  if (const auto* const missing = std::get_if<MissingNote>(&news)) {
    if (missing->left) somebody_left_ = true;
    missing_[missing->name] = *missing;
  }
  if (const auto* const watch = std::get_if<WatchNote>(&news)) {
    report_from_ = std::min(report_from_.value_or(watch->round), watch->round);
    report();
  }
  if (const auto* const count = std::get_if<CountNote>(&news))
    session_.network_.send(pid_, note_of(CountedNote{count->name, given(count->name)}));
}

void SimulatedSession::Member::connected(const std::string& token) {
  for (auto& [number, group] : groups_) {
    if (group.token != token || group.state != Group::State::kConnecting) continue;
    group.state = Group::State::kOpen;
    group.hash = start_ == 0 && session_.fault(Kind::kOtherPlan, place_) != nullptr ? "other" : kSessionHash;
    protocol_.opened(OpenedNote{number, group.hash}, session_.network_.now());
    act();
  }
}

std::vector<TensorNote> SimulatedSession::Member::tensors() const {
  const SessionCase& what = session_.case_;
  std::vector<TensorNote> all;
  for (int i = 0; i < what.tensors; ++i) {
    TensorNote note;
    note.name = fmt::format("t{}", i);
    note.elements = 10;
    if (i == 0 && what.some && what.ranks > 2) note.ranks = {0, 1};
    note.kept = i == what.tensors - 1 && what.kept && what.servers > 0;
    if (i == what.tensors - 1 && session_.fault(Kind::kDiffers, place_) != nullptr) note.elements = 11;
    if (takes_part({false, place_}, note.ranks)) all.push_back(note);
  }
  return all;
}

bool SimulatedSession::Member::has(Kind kind, Instant now) const {
  const SessionFault* const fault = session_.fault(kind, place_);
  return start_ == 0 && fault != nullptr && fault->when <= now;
}

void SimulatedSession::Member::declare() {
  declared_ = true;
  session_.network_.send(pid_, note_of(DeclareNote{tensors()}));
}

void SimulatedSession::Member::use(Instant now) {
  const SessionFollower::Phase phase = protocol_.phase();
  const bool serves = phase == SessionFollower::Phase::kServing || phase == SessionFollower::Phase::kOpening;
  if (!serves || place_ >= session_.case_.ranks || gave_up_) return;
  // Nobody waits forever: neither for others to leave nor, when idle, for its user.
  if (left_ && now - left_at_ > session_.case_.patience) return end_process();
  constexpr Duration kIdles{20'000'000'000};
  if (has(Kind::kIdle, Instant(now.ns() - kIdles.ns()))) return end_process();
  if (left_) return;
  if (!declared_) declare();
  if (has(Kind::kAbort, now)) {
    gave_up_ = true;
    return fail("its disk is full");
  }
  refuse_one(now);
  if (wait_) {
    if (!await(now)) return;
    wait_.reset();
    asking_ = false;
    ++next_;
    computes_until_ = now + Duration(session_.network_.random().between(0, session_.case_.computing.ns()));
  }
  if (now < computes_until_ || has(Kind::kIdle, now)) return;
  if (finished() || has(Kind::kLeave, now)) return leave(now);
  give(now);
}

bool SimulatedSession::Member::finished() const {
  return next_ >= tensors().size() * static_cast<std::size_t>(session_.case_.rounds);
}

void SimulatedSession::Member::refuse_one(Instant now) {
  if (!has(Kind::kRefuses, now) || !refuses_.empty() || tensors().empty()) return;
  refuses_ = tensors().back().name;
  session_.network_.send(pid_, note_of(RefuseNote{refuses_, "its user has changed it"}));
}

// Like the destructor of the session.
void SimulatedSession::Member::end_process() {
  gave_up_ = true;
  fail(session_.name(place_) + " has ended");
}

bool SimulatedSession::Member::labelled(const TensorNote& tensor) const {
  return tensor.ranks.empty() && !tensor.kept;
}

// Usually the next in order; once another one, if its user swaps two.
TensorNote SimulatedSession::Member::next_tensor(Instant now) {
  const std::vector<TensorNote> all = tensors();
  TensorNote next = all[next_ % all.size()];
  if (!has(Kind::kSwaps, now) || swapped_ || !labelled(next) || refused_.contains(next.name)) return next;
  for (const TensorNote& other : all) {
    if (other.name == next.name || !labelled(other)) continue;
    swapped_ = true;
    report_from_ = std::min<std::int64_t>(report_from_.value_or(std::ssize(rounds_)), std::ssize(rounds_));
    return other;
  }
  return next;
}

// Rounds without a name are always reported; those with a name once ranks may differ.
void SimulatedSession::Member::take_round(const TensorNote& tensor) {
  if (labelled(tensor)) {
    rounds_.push_back({kLabel, std::ssize(rounds_), tensor.name, tensor.name});
    return report();
  }
  if (tensor.kept) return;
  const RoundNote round = {"", given(tensor.name), tensor.name, tensor.name};
  session_.network_.send(pid_, note_of(RoundsNote{{round}}));
}

void SimulatedSession::Member::report() {
  if (!report_from_ || refused_.contains(kLabel)) return;
  RoundsNote note;
  for (std::size_t i = static_cast<std::size_t>(*report_from_); i < rounds_.size(); ++i) {
    if (reported_.insert(i).second) note.rounds.push_back(rounds_[i]);
  }
  if (!note.rounds.empty()) session_.network_.send(pid_, note_of(note));
}

void SimulatedSession::Member::give(Instant now) {
  given_now_ = next_tensor(now);
  ++given_[given_now_.name];
  take_round(given_now_);
  wait_.emplace(session_.case_.patience * 2, session_.case_.patience, now);
}

// Whether the wait is over. Asks, and gives up, like the real one.
bool SimulatedSession::Member::await(Instant now) {
  const TensorNote& tensor = given_now_;
  if (refused_.contains(tensor.name) || (labelled(tensor) && refused_.contains(kLabel))) return true;
  if (session_.summed(index_, tensor.name, given(tensor.name))) return true;
  const auto answer = missing_.find(tensor.name);
  const MissingNote* const said = asking_ && answer != missing_.end() ? &answer->second : nullptr;
  const TensorWait::Step step = wait_->step(now, somebody_left_, said);
  if (step == TensorWait::Step::kAsk) {
    asking_ = true;
    missing_.erase(tensor.name);
    session_.network_.send(pid_, note_of(AskNote{tensor.name}));
  } else if (step == TensorWait::Step::kGiveUp || step == TensorWait::Step::kLost) {
    gave_up_ = true;
    fail(fmt::format("rank {} has waited {} for tensor '{}': {}", place_, rounded(wait_->waited()),
                     tensor.name, waits_for(said, tensor.kept)));
  } else if (said != nullptr || step == TensorWait::Step::kWarn) {
    asking_ = false;
  }
  return false;
}

void SimulatedSession::Member::leave(Instant now) {
  left_ = true;
  left_at_ = now;
  LeaveNote note;
  for (const auto& [tensor, times] : given_) note.given.push_back({tensor, times});
  session_.network_.send(pid_, note_of(note));
}

}  // namespace weir
