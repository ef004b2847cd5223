// Leads a training session from a thread of rank 0's process: seats its processes, finds which tensors all
// ranks know, has everybody plan them together, and ends the session when it is over or somebody fails.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <thread>

#include "backends/real/session/turns.h"
#include "backends/real/session/world.h"
#include "core/protocol/silence.h"

namespace weir::real {

struct LeaderSettings {
  std::string version;  // of the program: all must have the same
  TransportChoice transport = TransportChoice::kAuto;
  bool encrypt = false;
  Duration patience;    // for all to take their seats
  Duration warn_after;  // who is missing is told then on the standard error
};

/// Its thread begins with it and ends when the session has.
class Leader {
 public:
  Leader(std::unique_ptr<ControlSocket> socket, SessionWorld world, const LeaderSettings& settings);
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  /// Ends the session for all if it has not ended.
  ~Leader();

 private:
  struct Member {
    Role role;
    std::string connection;  // empty until it has a seat
    Place place;
    Silence silence;
    bool left = false;
    std::map<std::string, std::int64_t> given;  // once it has left: how often which tensor
  };
  struct Declared {
    TensorNote tensor;       // as the first rank that declared it has it
    int first = 0;           // that rank
    std::map<int, bool> by;  // of its ranks
    bool refused = false;
    bool known_to_all() const {
      return std::all_of(by.begin(), by.end(), [](const auto& one) { return one.second; });
    }
  };
  struct Count {                                       // of a tensor, whose rounds are being asked for
    std::map<int, std::optional<std::int64_t>> times;  // by rank
    Instant until;
  };

  void run();
  Result<void> lead();
  Result<void> seat_all();
  Result<void> seat(const Note& note);
  Result<void> take(std::size_t member, const Note& note);
  Result<void> declare(int rank, const DeclareNote& note);
  void refuse(const std::string& name, const std::string& why);
  Result<void> turns(int rank, const TurnsNote& note);
  Result<void> opened(std::size_t member, const OpenedNote& note);
  Result<void> open_next();
  void gather();
  void ask(const std::string& name);
  void answer(const std::string& name, const Count& count);
  Result<void> check_silence();
  template <class T>
  void tell_all(const T& content, bool ranks_alone = false);
  template <class T>
  void tell_openers(const T& content);
  const Member& member(int rank) const { return members_[ranks_[static_cast<std::size_t>(rank)]]; }
  std::vector<int> ranks_of(const TensorNote& tensor) const;
  std::optional<std::size_t> sender(const Note& note);
  std::string missing() const;
  bool over() const;

  std::unique_ptr<ControlSocket> socket_;
  SessionWorld world_;
  LeaderSettings settings_;
  std::vector<Member> members_;               // by machine
  std::vector<std::size_t> ranks_;            // their machines
  std::map<std::string, Declared> declared_;  // by name
  // Names that the first of their ranks has declared together, not opened yet.
  std::deque<std::vector<std::string>> batches_;
  TurnTable turns_;
  std::map<std::string, Count> counts_;  // by tensor
  std::deque<OpenNote> to_open_;         // in this order; their numbers and tokens come when they are
  int groups_ = 0;                       // opened so far
  // By machine that takes part in the group that is being opened: the hash of its plan once it has one. Empty
  // if no group is.
  std::map<std::size_t, std::string> opening_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace weir::real
