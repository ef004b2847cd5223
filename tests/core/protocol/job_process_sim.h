// The processes of JobWorld: real protocols with simulated drivers. Mistakes are planted here, so protocols
// contain none.
#pragma once

#include "tests/core/protocol/job_world.h"
#include "tests/core/protocol/phase_clock.h"

namespace weir {

class JobWorld::Coordinator final : public SimulatedProcess {
 public:
  Coordinator(JobWorld& world, Pid pid, int start, JobTerms terms)
      : world_(world),
        pid_(pid),
        start_(start),
        protocol_(std::move(terms), world.network_.now()),
        clock_(protocol_.phase(), world.network_.now()) {}

  void hear(Note note, Instant now) override;
  void tick(Instant now, Duration refused) override;
  void stop(const Error& why, Instant now) {
    protocol_.stop(why, now);
    act();
  }
  Instant wake() const override { return protocol_.wake(); }
  bool over() const override { return protocol_.over(); }
  const JobCoordinator& protocol() const { return protocol_; }
  std::int64_t recorded() const { return recorded_; }

 private:
  using Phase = JobCoordinator::Phase;
  void act();
  std::optional<Duration> limit(Phase phase) const;

  JobWorld& world_;
  Pid pid_;
  int start_;
  JobCoordinator protocol_;
  PhaseClock<Phase> clock_;
  Instant last_heard_;
  std::int64_t recorded_ = 0;
};

class JobWorld::Machine final : public SimulatedProcess {
 public:
  Machine(JobWorld& world, std::size_t index, const MemberTerms& terms, const JoinNote& join)
      : world_(world),
        index_(index),
        protocol_(terms, join, world.network_.now()),
        clock_(protocol_.phase(), world.network_.now()) {}

  void begin() { act(); }
  void hear(Note note, Instant now) override;
  void tick(Instant now, Duration refused) override;
  Instant wake() const override { return protocol_.wake(); }
  bool over() const override { return protocol_.over() || guessed_; }
  bool listens() const override { return protocol_.phase() != Phase::kPlanning; }
  // The results of its work.
  void planned(const Result<PlanReport>& planned);
  void connected(const Result<void>& connected);
  void ran(const Result<DoneNote>& done);
  const JobMember& protocol() const { return protocol_; }

 private:
  using Phase = JobMember::Phase;
  void act(bool anew = false);
  std::optional<Duration> limit(Phase phase) const;

  JobWorld& world_;
  std::size_t index_;
  JobMember protocol_;
  PhaseClock<Phase> clock_;
  bool heard_ = false;    // the coordinator
  bool guessed_ = false;  // has ended by a mistake, without the verdict
};

}  // namespace weir
