// A whole training session in virtual time. Leader, ranks and servers run their real protocols. Ranks
// declare, hand over and wait for tensors as users do. Peers see data connections close, and faults are
// injected.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/protocol/session_follower.h"
#include "core/protocol/session_leader.h"
#include "core/protocol/tensor_wait.h"
#include "tests/core/protocol/simulated_network.h"

namespace weir {

/// A fault in a session. Places are ranks, then servers. The leader runs in the process of rank 0.
struct SessionFault {
  enum class Kind {
    kCrash,
    kRestart,  // crashes and comes back as another process
    kStop,     // does nothing for `time`
    kCut,      // loses its control connection and gets another after `time`
    kBreak,    // its next group fails to open
    kSlow,     // its groups take `time` longer to open
    kLate,     // starts `time` later
    kOtherVersion,
    kOtherPlan,
    kTwin,     // another process claims the same place
    kIdle,     // a rank hands over no more tensors
    kLeave,    // a rank leaves early
    kAbort,    // a rank gives up
    kDiffers,  // a rank has a tensor of another size
    kSwaps,    // a rank hands over another tensor under the same name, once
    kRefuses,  // a rank refuses a tensor
  };
  Kind kind = Kind::kCrash;
  int place = 0;
  Instant when;
  Duration time;
};

struct SessionCase {
  int ranks = 3;
  int servers = 1;
  int tensors = 2;
  int rounds = 3;
  bool kept = false;  // the servers keep the last tensor
  bool some = false;  // the first tensor belongs to ranks 0 and 1 only
  Duration patience{6'000'000'000};
  Duration opening{200'000'000};    // to plan and connect a group
  Duration computing{300'000'000};  // between rounds
  Duration slowest{50'000'000};     // the slowest note between two processes
  std::vector<SessionFault> faults;
  /// Deliberate mistakes, which seeds must find.
  enum class Mistake {
    kNone,
    kHasty,           // a process takes its first guess for the cause, although the leader may be gone
    kDeaf,            // the leader never looks for silence
    kAnyPlan,         // it takes any plan for the right one
    kAnyVersion,      // it takes processes of any version
    kFirstLeaves,     // it says goodbye when the first rank leaves
    kEndlessSeating,  // it waits for all to take their seats without limit
    kKeepsRefusal,    // it tells only one rank that a tensor is refused
    kNeverWatches,    // it does not ask ranks to report rounds that may differ
  };
  Mistake mistake = Mistake::kNone;
};

/// What all processes have that do not differ.
constexpr const char* kSessionVersion = "1";
constexpr const char* kSessionHash = "hash";
/// The name that users give to all tensors that all ranks sum; others have none.
constexpr const char* kLabel = "label";

/// The case of this seed.
SessionCase session_case(std::uint64_t seed);
std::string text(const SessionCase& what);

/// The end of one process, or of the leader in it.
struct SessionOutcome {
  int place = 0;  // -1: the leader
  int start = 0;  // counts the processes of that place, from 0
  std::string name;
  bool crashed = false;
  bool ended = false;  // otherwise it hangs
  bool seated = false;
  std::optional<Instant> placed;  // when the first leader gave it its place
  Instant at;
  std::optional<Error> error;
};

class SimulatedSession {
 public:
  SimulatedSession(const SessionCase& what, std::uint64_t seed);
  /// Runs the case. Returns what went wrong; empty if nothing did.
  std::string run();
  /// Records the conversation from now on.
  void listen() {
    network_.log = [this](const std::string& line) { lines_.push_back(line); };
  }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<SessionOutcome>& outcomes() const { return outcomes_; }

 private:
  class Leader;
  class Member;
  friend class SessionStory;
  using Kind = SessionFault::Kind;
  using Mistake = SessionCase::Mistake;

  struct Group {  // as one process knows it
    std::vector<TensorNote> tensors;
    std::string token;
    std::vector<int> ranks;
    std::string hash;  // of its plan
    enum class State { kConnecting, kOpen, kBegun } state = State::kConnecting;
  };

  std::size_t launch(int place, int start, bool twin);
  void launch_leader(int start);
  void inject(const SessionFault& fault);
  void open(std::size_t index, const OpenNote& note);
  void begin(Group& group);
  void meet_if_all_are_there(const std::string& token);
  void lose(std::size_t closed);
  void ended(Pid pid);
  /// All processes that have this group: one for each participant once all are there.
  std::vector<std::size_t> peers(const std::string& token) const;
  std::size_t size_of(const Group& group) const;
  /// Whether all ranks of the tensor have handed it over in this round, and no peer is stopped.
  bool summed(std::size_t index, const std::string& tensor, int round) const;
  const SessionFault* fault(Kind kind, int place) const;
  std::string name(int place) const;
  /// When the process was stopped; the leader's place is that of rank 0.
  std::vector<std::pair<Instant, Instant>> stops(int place, int start) const;
  Role role(int place) const;

  SessionCase case_;
  SimulatedNetwork network_;
  std::vector<Member*> members_;
  std::vector<Leader*> leaders_;
  std::vector<SessionOutcome> outcomes_;
  std::map<Pid, std::size_t> outcome_of_;
  std::vector<std::string> lines_;
  std::string broken_;  // which of its own rules a process has broken
};

}  // namespace weir
