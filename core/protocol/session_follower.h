// A rank's or a server's part in a training session, towards the leader, as a pure state machine: notes, time
// and the results of its work go in, notes and work come out. It contains no socket, thread or clock; the
// driver is backends/real/session/member.h.
//
//   phase       waits for                                   at most             then
//   kSeating    `welcome`; says `seat` every half second    patience and 2 s *  kWelcoming
//   kWelcoming  its layout of the session (driver)          the leader's        kServing
//   kServing    what the leader says                        the leader's        kOpening at `open`
//   kOpening    its plan and connections (driver)           patience            says `opened`: kServing
//   kFailing    the verdict                                 1 s **              kOver
//
// * From when it first heard the leader. The leader waits for all with the same patience, and should name who
//   is missing.
// ** And until it hears the leader again. A leader that is gone gives no verdict, and peers must not take
// this process for the cause of its end.
//
// `goodbye` and `failed` end it in every phase, and so does a leader that has been silent for kSilence. In
// kFailing the driver keeps the data connections open. Otherwise a peer might see them close, be heard first,
// and blame this process.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/protocol/actions.h"
#include "core/protocol/leading_end.h"
#include "core/protocol/session_notes.h"

namespace weir {

struct FollowerTerms {
  SeatNote seat;
  Duration patience;         // how long it waits to be admitted
  std::string not_admitted;  // the error if it is not admitted
};

/// Build the layout of the session from the note; then call welcomed().
struct MakeLayout {
  Note welcome;
};
/// Plan these tensors, and connect to all participants; then call opened().
struct OpenGroup {
  OpenNote open;
};
/// All have opened the group.
struct BeginGroup {
  int group = 0;
};
/// What the leader says to the code that hands tensors over.
using TensorNews = std::variant<RefuseNote, CountNote, MissingNote, WatchNote>;
using FollowerAction =
    std::variant<SendNote, KeepAlive, DropUnsent, MakeLayout, OpenGroup, BeginGroup, TensorNews>;

/// A value with one owner; the rules are those of JobMember. The driver hears notes and ticks while it
/// connects.
class SessionFollower {
 public:
  enum class Phase { kSeating, kWelcoming, kServing, kOpening, kFailing, kOver };

  SessionFollower(FollowerTerms terms, Instant now);

  void hear(const Note& note, Instant now);
  void tick(Instant now);
  /// The driver has built the layout; `ranks` is the number of ranks in the session.
  void welcomed(const Result<std::size_t>& ranks, Instant now);
  void opened(const Result<OpenedNote>& opened, Instant now);
  /// Its work has failed, or its owner gives up.
  void fail(const Error& own, Instant now);

  Instant wake() const { return leader_.wake(); }
  std::vector<FollowerAction> actions() { return std::exchange(actions_, {}); }
  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  /// Why it failed, if it did. Known once it is over.
  const std::optional<Error>& error() const { return error_; }

 private:
  void send(Note note) { actions_.emplace_back(SendNote{std::move(note)}); }
  void take(const Note& note, Instant now);
  void open(const OpenNote& note, Instant now);
  void begin(const BeginNote& note, Instant now);
  void end(std::optional<Error> error);

  FollowerTerms terms_;
  Phase phase_ = Phase::kSeating;
  Instant until_;  // end of kSeating
  Instant said_;   // when it last said `seat`
  LeadingEnd leader_;
  std::size_t ranks_ = 0;
  int last_opened_ = -1;      // group
  std::vector<int> waiting_;  // groups that it has opened but that have not begun
  std::optional<Error> error_;
  std::vector<FollowerAction> actions_;
};

}  // namespace weir
