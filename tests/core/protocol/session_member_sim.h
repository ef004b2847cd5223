// The processes of SimulatedSession: real protocols with simulated drivers.
#pragma once

#include "tests/core/protocol/session_sim.h"

namespace weir {

class SimulatedSession::Leader final : public SimulatedProcess {
 public:
  Leader(SimulatedSession& session, Pid pid, int start, LeaderTerms terms)
      : session_(session), pid_(pid), start_(start), protocol_(std::move(terms), session.network_.now()) {}

  void hear(Note note, Instant now) override {
    protocol_.hear(note, now);
    act();
  }
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
  const SessionLeader& protocol() const { return protocol_; }

 private:
  void act();

  SimulatedSession& session_;
  Pid pid_;
  int start_;
  SessionLeader protocol_;
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
        protocol_(std::move(terms), session.network_.now()) {}

  void hear(Note note, Instant now) override {
    protocol_.hear(note, now);
    act();
  }
  void tick(Instant now, Duration refused) override;
  Instant wake() const override { return protocol_.wake(); }
  bool over() const override { return protocol_.over() || guessed_; }
  bool listens() const override { return !planning_; }

  void act();
  void fail(const std::string& why) {
    protocol_.fail(Error{why}, session_.network_.now());
    act();
  }
  void planned() { planning_ = false; }
  void connected(const std::string& token);

  const SessionFollower& protocol() const { return protocol_; }
  Pid pid() const { return pid_; }
  int place() const { return place_; }
  int start() const { return start_; }
  std::map<int, Group>& groups() { return groups_; }
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
  void end_process(Instant now);
  std::vector<TensorNote> tensors() const;
  bool has(Kind kind, Instant now) const;
  void news(const TensorNews& news);

  SimulatedSession& session_;
  std::size_t index_;
  Pid pid_;
  int place_;
  int start_;
  SessionFollower protocol_;
  std::optional<Instant> failing_since_;
  bool guessed_ = false;  // has ended by a mistake, without the verdict
  bool planning_ = false;
  std::string world_;  // whose session it is in: names the leader
  std::map<int, Group> groups_;
  // State of the user.
  bool declared_ = false;
  bool left_ = false;
  Instant left_at_;
  std::size_t next_ = 0;  // number of hand-overs that are complete, over all rounds
  std::optional<TensorWait> wait_;
  bool asking_ = false;
  Instant computes_until_;
  std::map<std::string, int> given_;
  std::set<std::string> refused_;
  std::map<std::string, MissingNote> missing_;
  bool somebody_left_ = false;
  bool gave_up_ = false;
};

}  // namespace weir
