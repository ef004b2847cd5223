// The processes of SimulatedSession: real protocols with simulated drivers. Mistakes are planted here, so
// protocols contain none.
#pragma once

#include "tests/core/protocol/phase_clock.h"
#include "tests/core/protocol/session_sim.h"

namespace weir {

class SimulatedSession::Leader final : public SimulatedProcess {
 public:
  Leader(SimulatedSession& session, Pid pid, int start, LeaderTerms terms)
      : session_(session),
        pid_(pid),
        start_(start),
        protocol_(std::move(terms), session.network_.now()),
        clock_(protocol_.phase(), session.network_.now()) {}

  void hear(Note note, Instant now) override;
  void tick(Instant now, Duration /*refused*/) override {
    if (session_.case_.mistake == Mistake::kDeaf && protocol_.phase() == SessionLeader::Phase::kLeading)
      return;
    protocol_.tick(now);
    act();
  }
  void stop(Instant now) {
    protocol_.stop(now);
    act();
  }
  Instant wake() const override {
    return session_.case_.mistake == Mistake::kDeaf ? session_.network_.now() + kLook : protocol_.wake();
  }
  bool over() const override { return protocol_.over(); }
  Pid pid() const { return pid_; }
  int start() const { return start_; }
  const SessionLeader& protocol() const { return protocol_; }

 private:
  Note mistaken(Note note);
  void act();

  SimulatedSession& session_;
  Pid pid_;
  int start_;
  SessionLeader protocol_;
  PhaseClock<SessionLeader::Phase> clock_;
  std::set<std::string> ranks_;  // connections of ranks
};

/// A rank with its user, or a server.
class SimulatedSession::Member final : public SimulatedProcess {
 public:
  Member(SimulatedSession& session, std::size_t index, Pid pid, int place, int start, FollowerTerms terms)
      : session_(session),
        index_(index),
        pid_(pid),
        place_(place),
        start_(start),
        protocol_(std::move(terms), session.network_.now()),
        clock_(protocol_.phase(), session.network_.now()) {}

  void hear(Note note, Instant now) override;
  void tick(Instant now, Duration refused) override;
  Instant wake() const override { return protocol_.wake(); }
  bool over() const override { return protocol_.over() || guessed_; }
  bool listens() const override { return !planning_; }

  void act(bool anew = false);
  void fail(const std::string& why);
  void planned() {
    planning_ = false;
    planned_at_ = session_.network_.now();
  }
  void connected(const std::string& token);

  const SessionFollower& protocol() const { return protocol_; }
  Pid pid() const { return pid_; }
  int place() const { return place_; }
  int start() const { return start_; }
  std::map<int, Group>& groups() { return groups_; }
  // What it has done and knows.
  const std::string& welcome() const { return welcome_; }
  Instant planned_at() const { return planned_at_; }
  std::optional<Instant> failed_at() const { return failed_at_; }
  std::optional<Instant> left_at() const { return left_ ? std::optional(left_at_) : std::nullopt; }
  bool finished() const;
  bool declared() const { return declared_; }
  std::vector<TensorNote> tensors() const;
  bool refused(const std::string& name) const { return refused_.contains(name); }
  bool swapped() const { return swapped_; }
  /// The tensor that it has refused; empty if it has refused none.
  const std::string& refuses() const { return refuses_; }
  int given(const std::string& tensor) const {
    const auto found = given_.find(tensor);
    return found == given_.end() ? 0 : found->second;
  }
  bool closed = false;  // whether its data connections are closed

 private:
  // The actions of its user, one after another: in each round, all tensors in turn.
  void use(Instant now);
  void declare();
  void give(Instant now);
  bool await(Instant now);
  void leave(Instant now);
  void end_process();
  void refuse_one(Instant now);
  TensorNote next_tensor(Instant now);
  bool labelled(const TensorNote& tensor) const;
  void take_round(const TensorNote& tensor);
  void report();
  std::optional<Duration> limit(SessionFollower::Phase phase) const;
  bool has(Kind kind, Instant now) const;
  void news(const TensorNews& news);

  SimulatedSession& session_;
  std::size_t index_;
  Pid pid_;
  int place_;
  int start_;
  SessionFollower protocol_;
  PhaseClock<SessionFollower::Phase> clock_;
  std::optional<Instant> failed_at_;  // when it first failed by itself
  bool heard_ = false;                // the leader
  bool guessed_ = false;              // has ended by a mistake, without the verdict
  bool planning_ = false;
  std::string welcome_;  // whose session it is in: names the leader
  Instant planned_at_;
  std::map<int, Group> groups_;
  // State of the user.
  bool declared_ = false;
  bool left_ = false;
  Instant left_at_;
  std::size_t next_ = 0;  // number of hand-overs that are complete, over all rounds
  std::optional<TensorWait> wait_;
  TensorNote given_now_;           // for which it waits
  std::vector<RoundNote> rounds_;  // of kLabel
  std::set<std::size_t> reported_;
  std::optional<std::int64_t> report_from_;
  bool swapped_ = false;
  std::string refuses_;
  bool asking_ = false;
  Instant computes_until_;
  std::map<std::string, int> given_;
  std::set<std::string> refused_;
  std::map<std::string, MissingNote> missing_;
  bool somebody_left_ = false;
  bool gave_up_ = false;
};

}  // namespace weir
