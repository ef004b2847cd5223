// A whole job in virtual time. Coordinator and machines run their real protocols. Work takes time or fails,
// peers see data connections close, and faults are injected.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/protocol/job_coordinator.h"
#include "core/protocol/job_member.h"
#include "tests/core/protocol/simulated_network.h"

namespace weir {

/// A fault in a job. Places are the coordinator (-1) and the machines from 0 on.
struct JobFault {
  enum class Kind {
    kCrash,    // disappears at once
    kRestart,  // crashes and comes back as another process
    kStop,     // does nothing for `time`
    kCut,      // loses its control connection and gets another after `time`
    kBreak,    // its work fails
    kSlow,     // its work takes `time` longer
    kLate,     // starts `time` later
    kOtherVersion,
    kOtherPlan,
    kTwin,  // another process claims to be that machine
  };
  Kind kind = Kind::kCrash;
  int place = 0;
  Instant when;
  Duration time;
};

struct JobCase {
  int machines = 3;
  bool ahead = false;
  bool watched = false;  // whether an observer reports crashed processes
  Duration patience{6'000'000'000};
  Duration planning{500'000'000};    // time of each machine to plan
  Duration connecting{100'000'000};  // time after all machines have arrived
  Duration running{2'000'000'000};   // time of all iterations
  Duration slowest{50'000'000};      // the slowest note between two processes
  std::vector<JobFault> faults;
  /// Deliberate mistakes, which seeds must find.
  enum class Mistake {
    kNone,
    kHasty,            // a machine takes its first guess for the cause, although the coordinator may be gone
    kJudgesFirst,      // drivers look at deadlines before they handle notes
    kForgetful,        // the coordinator does not look for silence while notes arrive
    kAnyPlan,          // it takes any plan for the right one
    kAnyVersion,       // it takes machines of any version
    kEndlessJoining,   // it waits for machines to join, and to meet, without limit
    kEndlessPlanning,  // it waits for plans without limit
    kEndlessMeeting,   // it ignores the time while machines meet
    kEndlessClocks,    // it ignores the time while it asks for clocks
  };
  Mistake mistake = Mistake::kNone;
};

/// What all processes have that do not differ.
constexpr const char* kVersion = "1";
constexpr std::string_view kPlanHash = "hash";

/// The case of this seed.
JobCase job_case(std::uint64_t seed);
std::string text(const JobCase& what);

/// The end of one process.
struct JobOutcome {
  int place = 0;  // -1: the coordinator
  int start = 0;  // counts the processes of that place, from 0
  std::string name;
  bool crashed = false;
  bool ended = false;  // otherwise it hangs
  Instant began;
  Instant at;
  std::optional<Instant> seated;  // when the first coordinator gave it its place
  std::optional<Error> error;
};

/// Runs the case, and returns what went wrong; empty if nothing did.
class JobWorld {
 public:
  JobWorld(const JobCase& what, std::uint64_t seed);
  std::string run();
  /// Records the conversation from now on.
  void listen() {
    network_.log = [this](const std::string& line) { lines_.push_back(line); };
  }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<JobOutcome>& outcomes() const { return outcomes_; }
  /// What the first coordinator learned: the sums checked, and the bytes of the record.
  const JobTally& tally() const;
  std::int64_t recorded() const;

 private:
  class Coordinator;
  class Machine;
  enum class Work { kNone, kConnecting, kConnected, kRunning, kFinished };
  struct Process {  // the process of a machine
    int place = 0;
    int start = 0;
    Pid pid = 0;
    Work work = Work::kNone;
    std::string token;  // of its connections
    Instant runs_from;
    bool closed = false;   // whether its data connections are closed
    bool failed = false;   // whether its work has failed
    Instant listens_from;  // when it had planned
    Instant worked_until;
    Machine* machine = nullptr;
  };

  Pid launch(int place, int start, bool twin);
  void launch_coordinator(int start);
  void add_outcome(Pid pid, int place, int start);
  void inject(const JobFault& fault);
  // Requests of machines.
  void plan(std::size_t index);
  void connect(std::size_t index, const std::string& token);
  void run_plan(std::size_t index, Instant begin);
  void meet_if_all_are_there(const std::string& token);
  void finish_if_all_run(const std::string& token);
  void finish(std::size_t index, const std::string& token);
  void give_up(std::size_t index, Work at, const std::string& why);
  void lose(std::size_t closed);
  void ended(Pid pid);
  std::vector<std::size_t> peers(const std::string& token) const;
  const JobFault* fault(JobFault::Kind kind, int place) const;
  std::string name(int place) const;
  /// When the process was stopped.
  std::vector<std::pair<Instant, Instant>> stops(int place, int start) const;

  friend class JobStory;
  JobCase case_;
  SimulatedNetwork network_;
  std::vector<Process> processes_;
  std::vector<Coordinator*> coordinators_;
  std::vector<Pid> hubs_;
  std::vector<JobOutcome> outcomes_;  // coordinators, then machines, in order of launch
  std::map<Pid, std::size_t> outcome_of_;
  std::vector<std::string> lines_;
  std::string broken_;  // which limit a process has broken
};

}  // namespace weir
