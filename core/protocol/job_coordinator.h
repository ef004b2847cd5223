// The coordinator of a job as a pure state machine: notes and time go in, notes and decisions come out. It
// contains no socket, thread or clock; the driver is backends/real/job/coordinator.h.
//
//   phase        waits for                         at most                 then
//   kJoining     `join` of every machine           patience                sends the inputs
//   kPlanning    `planned` of every machine        planning                sends where all meet
//   kMeeting     `met` of every machine            patience                asks for clocks
//   kClocks      `clock` of every machine          patience, eight rounds  sends `go`
//   kRunning     `record` and `done` of every one  no limit                meets again or ends: kOver
//   kBlaming     whoever watches the processes     0.3 s                   sends the reason to all
//   kDismissing  machines that have not joined     1 s                     sends it to them too: kOver
//
// When it ends, it says `goodbye`. Each of the first five phases goes to kBlaming when a machine fails,
// differs, is late, or has been silent for kSilence. If nobody watches the processes, it goes to kDismissing
// instead.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/actions.h"
#include "core/protocol/job_notes.h"
#include "core/protocol/silence.h"

namespace weir {

/// All that the coordinator knows before the job begins.
struct JobTerms {
  struct Seat {
    std::string name;              // of the machine
    std::string host;              // on which it was started; empty if unknown
    std::size_t nics = 1;          // how many NIC addresses it may name
    std::int64_t record_size = 0;  // bytes of its part of the record, per iteration
  };
  std::vector<Seat> seats;          // by machine
  std::string version;              // of the program: all machines must have the same
  Note inputs;                      // what all machines plan
  std::string hash;                 // of the plan that must result
  int iterations = 1;               // recorded iterations
  bool ahead = false;               // whether a checked iteration runs before them
  std::vector<std::string> tokens;  // for data connections: one for each time that machines meet
  Duration patience{30'000'000'000};
  Duration planning{30'000'000'000};
  std::string planning_hint;       // appended to the names of machines that are late
  std::string gpu_hint;            // where GPUs meet
  bool watched = false;            // whether somebody watches the processes, and can say which one has ended
  std::vector<std::string> wires;  // names of the transports that messages may use
  /// Fails if a machine cannot listen at this address.
  std::function<Result<void>(const std::string& host)> check_host;
};

/// What machines have reported by the end of a job.
struct JobTally {
  std::int64_t checked = 0;               // elements whose sums were checked, on all machines
  std::map<std::string, int> transports;  // by transport: how many ends of lanes moved messages through it
  std::map<std::string, int> on_tcp;      // by reason: how many ends of lanes fell back to TCP
};

// What the driver must do, in order; besides actions.h.
/// All machines have joined.
struct AllJoined {};
/// Discard the record so far, and make room for this many iterations.
struct BeginRecord {
  int iterations = 1;
};
/// A piece of the machine's part of the record; `at` bytes of it came before.
struct KeepRecord {
  std::size_t machine = 0;
  std::int64_t at = 0;
  std::string bytes;
};
using CoordinatorAction = std::variant<SendNote, KeepAlive, AllJoined, BeginRecord, KeepRecord>;

/// A value with one owner.
///   1. hear() takes each note once, in the order of its connection.
///   2. tick() is called at wake() or soon after, but only after all that has arrived has been heard.
///      Otherwise a process that was itself stopped would take others for late.
///   3. After each call the driver does what actions() returns.
///   4. Once it is over, nothing changes any more.
class JobCoordinator {
 public:
  enum class Phase { kJoining, kPlanning, kMeeting, kClocks, kRunning, kBlaming, kDismissing, kOver };

  JobCoordinator(JobTerms terms, Instant now);

  void hear(Note note, Instant now);
  void tick(Instant now);
  /// Ends the job; whoever watches its processes says why.
  void stop(const Error& why, Instant now);

  Instant wake() const;
  std::vector<CoordinatorAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why the job failed, if it did. Known once it is over.
  const std::optional<Error>& error() const { return error_; }
  const JobTally& tally() const { return tally_; }

 private:
  struct Member {
    std::string connection;  // empty until it has joined
    Place place;
    bool answered = false;  // in this phase
    Silence silence;
    std::int64_t recorded = 0;  // bytes of its part of the record received so far
    Duration clock;             // how far its clock is ahead of ours
    Duration soonest;           // shortest round trip when asked for its clock
  };

  bool active() const { return phase_ < Phase::kBlaming; }
  void send(Note note) { actions_.emplace_back(SendNote{std::move(note)}); }
  template <class T>
  void send_to_all(const T& content);
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
  Instant looked_;                // when it last checked deadlines
  StoodStill still_;
  std::vector<Member> members_;
  std::string clique_;        // where all machines' GPUs meet, as one machine reported
  std::size_t meetings_ = 0;  // number of meetings begun
  int rounds_ = 0;            // of clock requests, in this meeting
  Instant asked_;             // when clocks were last requested
  std::vector<Note> late_;    // `join` notes that came after the job failed
  std::optional<Error> error_;
  JobTally tally_;
  std::vector<CoordinatorAction> actions_;
};

}  // namespace weir
