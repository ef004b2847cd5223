#include "tests/core/protocol/session_member_sim.h"

#include "core/base/units_text.h"

namespace weir {

void SimulatedSession::Leader::act() {
  SimulatedNetwork& network = session_.network_;
  for (bool any = true; any;) {
    std::vector<LeaderAction> actions = protocol_.actions();
    any = !actions.empty();
    for (LeaderAction& action : actions) {
      if (auto* const said = std::get_if<SendNote>(&action)) network.send(pid_, std::move(said->note));
      if (auto* const alive = std::get_if<KeepAlive>(&action)) network.keep_alive(pid_, alive->connection);
      if (std::holds_alternative<AllSeated>(action))
        protocol_.welcome({"", std::string(kWelcome), fmt::format("{}", start_), ""});
    }
  }
}

void SimulatedSession::Member::tick(Instant now, Duration /*refused*/) {
  const bool failing = protocol_.phase() == SessionFollower::Phase::kFailing;
  if (failing && !failing_since_) failing_since_ = now;
  if (session_.case_.mistake == Mistake::kHasty && failing) {
    guessed_ = now - *failing_since_ >= kMoment;
    return;
  }
  protocol_.tick(now);
  use(now);
  act();
}

void SimulatedSession::Member::act() {
  SimulatedNetwork& network = session_.network_;
  for (bool any = true; any;) {
    std::vector<FollowerAction> actions = protocol_.actions();
    any = !actions.empty();
    for (FollowerAction& action : actions) {
      if (auto* const said = std::get_if<SendNote>(&action)) network.send(pid_, std::move(said->note));
      if (std::holds_alternative<KeepAlive>(action)) network.keep_alive(pid_, "");
      if (auto* const make = std::get_if<MakeWorld>(&action)) {
        world_ = make->welcome.text;
        session_.outcomes_[session_.outcome_of_.at(pid_)].seated = true;
        protocol_.welcomed(static_cast<std::size_t>(session_.case_.ranks), network.now());
      }
      if (auto* const group = std::get_if<OpenGroup>(&action)) {
        if (group->open.token.rfind(world_ + ".", 0) != 0)
          session_.broken_ = session_.name(place_) + " opens a group of another leader";
        planning_ = true;
        session_.open(index_, group->open);
      }
      if (auto* const begun = std::get_if<BeginGroup>(&action))
        groups_[begun->group].state = Group::State::kBegun;
      if (auto* const tensor = std::get_if<TensorNews>(&action)) news(*tensor);
    }
  }
}

void SimulatedSession::Member::news(const TensorNews& news) {
  if (const auto* const refused = std::get_if<RefuseNote>(&news)) refused_.insert(refused->name);
  if (const auto* const missing = std::get_if<MissingNote>(&news)) {
    if (missing->left) somebody_left_ = true;
    missing_[missing->name] = *missing;
  }
  if (const auto* const count = std::get_if<CountNote>(&news))
    session_.network_.send(pid_, note_of(CountedNote{count->name, given(count->name)}));
}

void SimulatedSession::Member::connected(const std::string& token) {
  for (auto& [number, group] : groups_) {
    if (group.token != token || group.state != Group::State::kConnecting) continue;
    group.state = Group::State::kOpen;
    protocol_.opened(OpenedNote{number, "hash"}, session_.network_.now());
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
  if (left_ && now - left_at_ > session_.case_.patience) return end_process(now);
  constexpr Duration kIdles{20'000'000'000};
  if (has(Kind::kIdle, Instant(now.ns() - kIdles.ns()))) return end_process(now);
  if (left_) return;
  if (!declared_) declare();
  if (has(Kind::kAbort, now)) {
    gave_up_ = true;
    return protocol_.fail(Error{"its disk is full"}, now);
  }
  if (wait_) {
    if (!await(now)) return;
    wait_.reset();
    asking_ = false;
    ++next_;
    computes_until_ = now + Duration(session_.network_.random().between(0, session_.case_.computing.ns()));
  }
  if (now < computes_until_ || has(Kind::kIdle, now)) return;
  const std::vector<TensorNote> all = tensors();
  if (all.empty() || next_ >= all.size() * static_cast<std::size_t>(session_.case_.rounds) ||
      has(Kind::kLeave, now))
    return leave(now);
  give(now);
}

// Like the destructor of the session.
void SimulatedSession::Member::end_process(Instant now) {
  gave_up_ = true;
  protocol_.fail(Error{session_.name(place_) + " has ended"}, now);
}

void SimulatedSession::Member::give(Instant now) {
  const std::vector<TensorNote> all = tensors();
  ++given_[all[next_ % all.size()].name];
  wait_.emplace(session_.case_.patience * 2, session_.case_.patience, now);
}

// Whether the wait is over. Asks, and gives up, like the real one.
bool SimulatedSession::Member::await(Instant now) {
  const std::vector<TensorNote> all = tensors();
  const TensorNote& tensor = all[next_ % all.size()];
  if (refused_.contains(tensor.name) || session_.summed(index_, tensor.name, given(tensor.name))) return true;
  const auto answer = missing_.find(tensor.name);
  const MissingNote* const said = asking_ && answer != missing_.end() ? &answer->second : nullptr;
  const TensorWait::Step step = wait_->step(now, somebody_left_, said);
  if (step == TensorWait::Step::kAsk) {
    asking_ = true;
    missing_.erase(tensor.name);
    session_.network_.send(pid_, note_of(AskNote{tensor.name}));
  } else if (step == TensorWait::Step::kGiveUp || step == TensorWait::Step::kLost) {
    gave_up_ = true;
    protocol_.fail(Error{fmt::format("rank {} has waited {} for tensor '{}': {}", place_,
                                     rounded(wait_->waited()), tensor.name, waits_for(said, tensor.kept))},
                   now);
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
