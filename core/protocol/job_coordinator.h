// The coordinator of a job as a pure state machine: notes and time go in, notes and decisions come out. No
// socket, thread or clock is inside; the driver is backends/real/job/coordinator.h.
//
//   phase        waits for                         until, at most            then
//   kJoining     `join` of every machine           patience                  tells the inputs
//   kPlanning    `planned` of every machine        planning                  tells where all meet
//   kMeeting     `met` of every machine            patience                  asks for clocks
//   kClocks      `clock` of every machine          patience, eight rounds    says `go`
//   kRunning     `record` and `done` of every one  for ever                  meets again, or says goodbye:
//   kOver kBlaming     whoever watches the processes     0.3 s                     tells all why the job has
//   failed kDismissing  machines that have not joined     1 s                       tells them as well: kOver
//
// Any of the first five goes to kBlaming when a machine fails, differs, is late, or has said nothing for
// kSilence (or to kDismissing, if nobody watches the processes).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/job_notes.h"
#include "core/protocol/silence.h"

namespace weir {

/// All that the coordinator knows before the job begins.
struct JobTerms {
  struct Seat {
    std::string name;              // of the machine
    std::string host;              // on which it was started; empty if nobody knows
    std::size_t nics = 1;          // that it may name an address for
    std::int64_t record_size = 0;  // bytes of its part of the record of one iteration
  };
  std::vector<Seat> seats;          // by machine
  std::string version;              // of the program: all machines must have the same
  Note inputs;                      // what all are to plan
  std::string hash;                 // of the plan that they must make of it
  int iterations = 1;               // that are recorded
  bool ahead = false;               // whether one that is checked goes before them
  std::vector<std::string> tokens;  // of data connections: one for each time that machines meet
  Duration patience{30'000'000'000};
  Duration planning{30'000'000'000};
  std::string planning_hint;  // these follow the names of machines that are late
  std::string gpu_hint;       // where GPUs are to meet
  bool watched = false;       // whether somebody watches the processes, who can say which of them has ended
  std::vector<std::string> wires;  // what messages may move through, by name
  /// What is wrong with an address at which a machine listens.
  std::function<Result<void>(const std::string& host)> check_host;
};

/// What machines have reported when a job is over.
struct JobTally {
  std::int64_t checked = 0;               // elements whose sums were checked, on all machines
  std::map<std::string, int> transports;  // how many ends of lanes moved messages through each
  std::map<std::string, int> on_tcp;      // how many ends of lanes stay on TCP though they might not, by why
};

/// What the driver is to do, in order.
struct SendNote {
  Note note;
};
/// From now on say every kHeartbeat to this connection that the process is alive; a machine's end has but
/// one.
struct KeepAlive {
  std::string connection;
};
/// All machines have joined.
struct AllJoined {};
/// Forget what came of the record, and make room for so many iterations.
struct BeginRecord {
  int iterations = 1;
};
/// These bytes follow the `at` bytes of the machine's part of the record that came before.
struct KeepRecord {
  std::size_t machine = 0;
  std::int64_t at = 0;
  std::string bytes;
};
using CoordinatorAction = std::variant<SendNote, KeepAlive, AllJoined, BeginRecord, KeepRecord>;

/// A value with one owner.
///   1. hear() takes each note once, in the order of its connection.
///   2. tick() is called at wake() or soon after, but only when all that has arrived has been heard: a
///   process
///      that was stopped itself must not take others for late.
///   3. After each call the driver does what actions() returns.
///   4. Once it is over, nothing changes any more.
class JobCoordinator {
 public:
  enum class Phase { kJoining, kPlanning, kMeeting, kClocks, kRunning, kBlaming, kDismissing, kOver };

  JobCoordinator(JobTerms terms, Instant now);

  void hear(Note note, Instant now);
  void tick(Instant now);
  /// Ends the job: whoever watches its processes says why.
  void stop(const Error& why, Instant now);

  Instant wake() const;
  std::vector<CoordinatorAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why the job has failed, if it has. Once it is over.
  const std::optional<Error>& error() const { return error_; }
  const JobTally& tally() const { return tally_; }

 private:
  struct Member {
    std::string connection;  // empty until it has joined
    Place place;
    bool answered = false;  // in this phase
    Silence silence;
    std::int64_t recorded = 0;  // bytes of its part of the record that have come
    Duration clock;             // how far its clock is ahead of ours
    Duration soonest;           // that it has answered when asked for its clock
  };

  bool active() const { return phase_ < Phase::kBlaming; }
  void send(Note note) { actions_.emplace_back(SendNote{std::move(note)}); }
  template <class T>
  void tell_all(const T& content);
  std::optional<std::size_t> sender(const Note& note, Instant now);
  bool complete() const;
  std::string missing() const;
  void enter(Phase phase, Duration patience, Instant now);
  void advance(Instant now);
  void meet(Instant now);
  void ask_clocks(Instant now);
  void go(Instant now);
  void hear_joining(const Note& note, Instant now);
  void hear_step(Note note, Instant now);
  void seat(const Note& note, Instant now);
  std::string misplaced(const JoinNote& join) const;
  Result<void> take(std::size_t machine, Note note, Instant now);
  Result<void> take_plan(std::size_t machine, const PlannedNote& planned);
  Result<void> take_clock(std::size_t machine, const ClockNote& clock, Instant now);
  Result<void> take_record(std::size_t machine, const RecordNote& piece, Note note);
  Result<void> take_end(std::size_t machine, const DoneNote& done);
  void check_deadline(Instant now);
  void fail(const Error& why, Instant now);
  void dismiss(Instant now);
  void turn_away(const Note& note);

  JobTerms terms_;
  Phase phase_ = Phase::kJoining;
  std::optional<Instant> until_;  // when the phase ends at the latest
  Instant looked_;                // at deadlines
  StoodStill still_;
  std::vector<Member> members_;
  std::string clique_;        // where the GPUs of all machines meet, as one of them has said
  std::size_t meetings_ = 0;  // that have begun
  int rounds_ = 0;            // of asking for clocks, in this meeting
  Instant asked_;             // for clocks
  std::vector<Note> late_;    // `join` notes since the job has failed
  std::optional<Error> error_;
  JobTally tally_;
  std::vector<CoordinatorAction> actions_;
};

}  // namespace weir
