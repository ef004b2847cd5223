// One machine's part of a job as a pure state machine: notes, time and the results of its work go in, notes
// and work come out. It contains no socket, thread or clock; the driver is backends/real/job/member.h.
//
//   phase        waits for                             at most            then
//   kJoining     `inputs`                              patience *         plans: kPlanning
//   kPlanning    its own plan (the driver's work)      the coordinator's  says `planned`
//   kPlanned     `meet`                                the coordinator's  connects: kConnecting
//   kConnecting  its connections (the driver's work)   patience           says `met`
//   kMet         `go`, answers `ask-clock`             patience *         runs: kRunning
//   kRunning     its iterations (the driver's work)    the driver's       says `done`
//   kDone        `meet` or `goodbye`                   the coordinator's  kConnecting or kOver
//   kFailing     the verdict                           1 s **             kOver
//
// * Two seconds more once it has heard the coordinator. The coordinator waits for the same step with the same
//   patience, knows who is missing, and should say so first. Each `ask-clock` restarts the time.
// ** Longer if it has not heard the coordinator since it failed.
//
// `failed` ends it in every phase, and so does a coordinator that has been silent for kSilence. In kFailing
// the driver keeps the data connections open. Otherwise a peer might see them close, be heard first, and
// blame this machine.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/actions.h"
#include "core/protocol/job_notes.h"
#include "core/protocol/leading_end.h"

namespace weir {

struct MemberTerms {
  Duration patience;  // how long to wait for each step of the coordinator
  Duration reach;     // how long the coordinator's address may have no listener
};

/// Make the plan from these inputs, and allocate its memory; then call planned().
struct PlanInputs {
  Note inputs;
};
/// Close existing connections, connect to all peers anew, then call connected().
struct ConnectPeers {
  MeetNote meet;
  bool ahead = false;  // whether one checked iteration runs over these connections; else all recorded ones
};
/// Begin when the machine's clock shows this; then call ran().
struct RunPlan {
  Instant begin;
  bool ahead = false;
};
using MemberAction = std::variant<SendNote, KeepAlive, DropUnsent, PlanInputs, ConnectPeers, RunPlan>;

/// The result of planning.
struct PlanReport {
  PlannedNote note;
  bool ahead = false;  // whether a checked iteration runs before the recorded ones
};

/// A value with one owner; the rules are those of JobCoordinator. While it plans, the driver need not listen.
/// While it connects and runs, it also hears notes and ticks, and abandons its work when the machine is over.
class JobMember {
 public:
  enum class Phase { kJoining, kPlanning, kPlanned, kConnecting, kMet, kRunning, kDone, kFailing, kOver };

  /// `join`: where it listens, or why it cannot.
  JobMember(const MemberTerms& terms, const Result<JoinNote>& join, Instant now);

  void hear(const Note& note, Instant now);
  /// `refused`: how long the coordinator's address has had no listener.
  void tick(Instant now, Duration refused);
  void planned(const Result<PlanReport>& planned, Instant now);
  void connected(const Result<void>& connected, Instant now);
  /// Its run has ended. If it ran, it has sent its record.
  void ran(const Result<DoneNote>& done, Instant now);

  Instant wake() const { return coordinator_.wake(); }
  std::vector<MemberAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why it failed, if it did. Known once it is over.
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
  void end_unheard(const Error& why);

  MemberTerms terms_;
  Phase phase_ = Phase::kJoining;
  Instant until_;  // end of the phase before kFailing, if it has one
  LeadingEnd coordinator_;
  bool ahead_ = false;  // the next meeting is for the checked iteration
  std::optional<Error> error_;
  std::vector<MemberAction> actions_;
};

}  // namespace weir
