// One machine's part of a job as a pure state machine: notes, time and the ends of its work go in, notes and
// work come out. No socket, thread or clock is inside; the driver is backends/real/job/member.h.
//
//   phase        waits for                             until, at most     then
//   kJoining     `inputs`                              patience *         plans: kPlanning
//   kPlanning    its own plan (the driver's work)      the coordinator's  says `planned`
//   kPlanned     `meet`                                the coordinator's  connects: kConnecting
//   kConnecting  its connections (the driver's work)   patience           says `met`
//   kMet         `go`, answers `ask-clock`             patience *         runs: kRunning
//   kRunning     its iterations (the driver's work)    the driver's       says `done`
//   kDone        `meet` or `goodbye`                   the coordinator's  kConnecting or kOver
//   kFailing     the verdict                           1 s **             kOver
//
// * And two seconds more once it has heard the coordinator, which waits for the same step with the same
// patience: it knows who is missing, and is to say so first. Each `ask-clock` begins the time anew.
//
// `failed` ends it in every phase, and so does a coordinator that has said nothing for kSilence. While the
// machine is in kFailing its driver holds the data connections: a peer that sees them closed might be heard
// first, and blame this machine.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/job_coordinator.h"

namespace weir {

struct MemberTerms {
  Duration patience;  // for each step of the coordinator
  Duration reach;     // for somebody to listen where the coordinator should
  /// A mistake that tests must notice: after a moment the machine takes its own story for the cause, although
  /// the coordinator may be gone.
  bool hasty = false;
};

/// The owner has nothing more to say, and nobody to say it to: what has not left is dropped.
struct DropUnsent {};
/// Make the plan of these inputs, and the memory for it; then call planned().
struct PlanInputs {
  Note inputs;
};
/// Let go of connections, if there are any; connect to all peers anew; then call connected().
struct ConnectPeers {
  MeetNote meet;
  bool ahead =
      false;  // one iteration is checked ahead over these connections; else all that are recorded run
};
/// Begin when the machine's clock shows this; then call ran().
struct RunPlan {
  Instant begin;
  bool ahead = false;
};
using MemberAction = std::variant<SendNote, KeepAlive, DropUnsent, PlanInputs, ConnectPeers, RunPlan>;

/// What comes of planning.
struct PlanReport {
  PlannedNote note;
  bool ahead = false;  // whether an iteration that is checked goes before those that are recorded
};

/// A value with one owner; as for JobCoordinator. The driver may do its work without listening, but while it
/// connects and runs it hears notes and ticks too, and gives up its work when the machine is over.
class JobMember {
 public:
  enum class Phase { kJoining, kPlanning, kPlanned, kConnecting, kMet, kRunning, kDone, kFailing, kOver };

  /// Where it listens, or why it cannot.
  JobMember(const MemberTerms& terms, const Result<JoinNote>& join, Instant now);

  void hear(const Note& note, Instant now);
  /// `refused`: for how long nobody has listened where the coordinator should.
  void tick(Instant now, Duration refused);
  void planned(const Result<PlanReport>& planned, Instant now);
  void connected(const Result<void>& connected, Instant now);
  /// It has sent its record, if it has run.
  void ran(const Result<DoneNote>& done, Instant now);

  Instant wake() const { return looked_ + kLook; }
  std::vector<MemberAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why it has failed, if it has. Once it is over.
  const std::optional<Error>& error() const { return error_; }

 private:
  void send(Note note) { actions_.emplace_back(SendNote{std::move(note)}); }
  void enter(Phase phase, Instant now);
  void take(const Note& note, Instant now);
  void meet(const Note& note, Instant now);
  void take_go(const Note& note, Instant now);
  void check_reply(Instant now, Duration refused);
  void fail(const Error& own, Instant now);
  void end(std::optional<Error> error);
  void end_unheard(std::string why);

  MemberTerms terms_;
  Phase phase_ = Phase::kJoining;
  Instant until_;  // of the phase, if it has an end
  Instant looked_;
  Silence silence_;     // of the coordinator
  bool heard_ = false;  // the coordinator, ever
  bool awaits_word_ =
      false;  // of the coordinator, since it has failed: only from one that lives can a verdict come
  bool ahead_ = false;  // the next meeting is for the iteration that is checked
  std::optional<Error> error_;
  std::vector<MemberAction> actions_;
};

}  // namespace weir
