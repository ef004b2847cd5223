// The leader of a training session as a pure state machine: notes and time go in, notes and decisions come
// out. It contains no socket, thread or clock; the driver is backends/real/session/leader.h.
//
//   phase      waits for                                          at most              then
//   kSeating   `seat` of every rank and server                    patience             welcomes all: kLeading
//   kLeading   `leave` of every rank; hears all other notes       no limit             says goodbye: kOver
//
// In kLeading it opens one group of tensors at a time: `open` to all participants, `opened` from each,
// `begin` to all of them. Ranks that are asked for counts have two seconds to answer. A failure in either
// phase is reported to all and ends the session: kOver.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/actions.h"
#include "core/protocol/round_table.h"
#include "core/protocol/silence.h"
#include "core/protocol/tensor_table.h"

namespace weir {

/// All that the leader knows before the session begins.
struct LeaderTerms {
  std::vector<Role> roles;  // by machine of the session
  std::string version;      // of the program: all must have the same
  Duration patience;        // how long all may take to take their seats
  Duration warn_after;      // when to warn about who is missing
  /// A token for a group's connections, different each time.
  std::function<Result<std::string>()> token;
};

/// All have their seats: the driver must call welcome() with a note that describes the session, with these
/// places.
struct AllSeated {
  std::vector<Place> places;  // by machine
};
/// A warning for the user.
struct WarnUser {
  std::string text;
};
using LeaderAction = std::variant<SendNote, KeepAlive, AllSeated, WarnUser>;

/// A value with one owner; the rules are those of JobCoordinator.
class SessionLeader {
 public:
  enum class Phase { kSeating, kLeading, kOver };

  SessionLeader(LeaderTerms terms, Instant now);

  void hear(const Note& note, Instant now);
  void tick(Instant now);
  /// Sends the note to all, in answer to AllSeated.
  void welcome(Note note);
  /// Rank 0, which runs in this process, has ended or given up.
  void stop(Instant now);

  Instant wake() const;
  std::vector<LeaderAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why the session failed, if it did. Known once it is over.
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Member {
    Role role;
    std::string connection;  // empty until it has a seat
    Place place;
    Silence silence;
    bool left = false;
    std::map<std::string, std::int64_t> given;  // once it has left: how often it handed over each tensor
  };
  struct Count {                                       // of a tensor whose counts are being collected
    std::map<int, std::optional<std::int64_t>> times;  // by rank
    Instant until;
    bool whole() const;
  };

  void send(Note note) { actions_.emplace_back(SendNote{std::move(note)}); }
  template <class T>
  void send_to_all(const T& content, bool ranks_alone = false);
  template <class T>
  void send_to_openers(const T& content);
  std::optional<std::size_t> sender(const Note& note, Instant now);
  std::string missing() const;
  void hear_seating(const Note& note, Instant now);
  void hear_leading(const Note& note, Instant now);
  Result<void> seat(const Note& note, Instant now);
  Result<void> take(std::size_t member, const Note& note, Instant now);
  Result<void> take_of_rank(std::size_t member, const Note& note, Instant now);
  Result<void> declare(int rank, const DeclareNote& note);
  Result<void> rounds(int rank, const RoundsNote& note);
  Result<void> opened(std::size_t member, const OpenedNote& note);
  void leave(std::size_t member, const LeaveNote& note);
  Result<void> open_next();
  void ask(const std::string& name, Instant now);
  void answer(const std::string& name, const Count& count);
  void answer_counts(Instant now);
  bool all_have_left() const;
  const Member& member(int rank) const { return members_[ranks_[static_cast<std::size_t>(rank)]]; }
  void fail(const Error& why, Instant now);

  LeaderTerms terms_;
  Phase phase_ = Phase::kSeating;
  Instant began_;
  Instant warn_;
  Instant looked_;
  StoodStill still_;
  std::vector<Member> members_;     // by machine
  std::vector<std::size_t> ranks_;  // the machine of each rank
  TensorTable tensors_;
  RoundTable rounds_;
  std::map<std::string, Count> counts_;  // by tensor
  int groups_ = 0;                       // opened so far
  // By machine that takes part in the group being opened: the hash of its plan, once known. Empty if no group
  // is being opened.
  std::map<std::size_t, std::string> opening_;
  std::optional<Error> error_;
  std::vector<LeaderAction> actions_;
};

}  // namespace weir
