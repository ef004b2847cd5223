// What ranks hand over under one name, or without a name, round by round. Each round must have the same
// tensor on all ranks.
//
// Tensors that differ in any way get different names in the session: sums and averages of one name, and
// unnamed tensors by size and type. So bytes of ranks that disagree never mix. Such ranks would wait for each
// other forever. But they report to the leader which tensor had which round, and the leader notices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/real/session/notes.h"

namespace weir::real {

/// A rank's side. A label is the name that a user gives a tensor; it may be empty. While all ranks use a
/// label for one kind of tensor, its rounds are not reported. Once any rank uses two kinds, rounds from
/// `from` on are reported. Rounds without a name are always reported.
class SubmissionRounds {
 public:
  /// The session's name for the tensor that has the next round. `tensor.name` is the label.
  std::string name(const TensorNote& tensor) const;
  /// Makes the tensor known.
  void add(const std::string& label, const TensorNote& tensor);
  /// The tensor has its round.
  void take(const std::string& label, const TensorNote& tensor);
  /// Another rank has had two kinds since that round. From there on, this rank reports its rounds to the
  /// leader.
  void watch(const WatchNote& note);
  /// Makes the label unusable. Returns all its tensors.
  std::vector<std::string> refuse(const std::string& label, const std::string& why);
  /// The reason why the label is unusable; empty if it is usable.
  std::string refused(const std::string& label) const;
  /// Rounds to report to the leader since the last call.
  RoundsNote unreported();

 private:
  struct Label {
    TensorNote first;
    std::set<std::string> tensors;
    std::int64_t given = 0;
    std::optional<std::int64_t> from;
    std::string refused;
  };
  std::map<std::string, Label> labels_;
  RoundsNote unreported_;
};

}  // namespace weir::real
