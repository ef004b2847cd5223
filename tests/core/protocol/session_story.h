// Checks how the processes of a session ended. What each reports must be true, reports of one cause must
// agree, and nobody may wait longer than promised.
#pragma once

#include <string>

#include "tests/core/protocol/session_sim.h"

namespace weir {

/// Reads a session that has ended.
class SessionStory {
 public:
  explicit SessionStory(const SimulatedSession& session) : session_(session) {}
  /// The first error; empty if there is none.
  std::string wrong() const;

 private:
  using Kind = SessionFault::Kind;
  using Member = SimulatedSession::Member;

  std::string wrong_with(const SessionOutcome& outcome) const;
  std::string wrong_verdict(const std::string& whole, Instant at) const;
  std::string wrong_reason(const std::string& text, Instant at) const;
  std::string wrong_member(const SessionOutcome& outcome) const;
  std::string wrong_goodbye(const SessionOutcome& leader) const;
  std::string unrefused(const std::vector<const Member*>& members) const;
  std::string unnoticed() const;
  std::string left_behind() const;
  std::string late() const;
  bool any(std::initializer_list<Kind> kinds) const;
  /// Whether there are no faults of other kinds.
  bool only(std::initializer_list<Kind> kinds) const;
  /// The first process of this place; null if it has not begun.
  const SessionOutcome* first_of(int place) const;
  bool has(int place, std::initializer_list<Kind> kinds, Instant by) const;
  /// Whether the process and the leader could not talk at some time.
  bool apart(const SessionOutcome& outcome) const;
  bool culprit(const std::string& name, Instant by) const;
  int place(const std::string& name) const;
  /// Whether these are the processes that the first leader gave no place.
  bool lists_absent(const std::string& names) const;
  bool all_in_trouble(const std::string& names, Instant by) const;

  const SimulatedSession& session_;
};

}  // namespace weir
