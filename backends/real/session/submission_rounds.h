// What ranks hand over under one name, or without any, turn by turn: in each the same on all ranks.
//
// What differs in any way goes as a tensor of its own: sums and averages of one name, and tensors without a
// name by size and type. So bytes of ranks that disagree never meet. They would wait for each other, but the
// leader, who is told which tensor had which turn, finds it out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/real/session/notes.h"

namespace weir::real {

/// A rank's side. A label is the name that a user gives a tensor, empty if none. Rounds of a label
/// with one kind of tensor are not told: `from` on they are, of which on this rank or another there are two,
/// and all of those without a name.
class SubmissionRounds {
 public:
  /// The name under which the session knows what has its next turn, of which `tensor.name` is the label.
  std::string name(const TensorNote& tensor) const;
  /// The tensor is known from now on.
  void add(const std::string& label, const TensorNote& tensor);
  /// The tensor has its turn.
  void take(const std::string& label, const TensorNote& tensor);
  /// Another rank has two kinds, since that turn: the leader is to be told what this one had and will have.
  void watch(const WatchNote& note);
  /// The label can be used no more: all its tensors.
  std::vector<std::string> refuse(const std::string& label, const std::string& why);
  /// Why not; empty if it can.
  std::string refused(const std::string& label) const;
  /// What the leader is to be told since the last call.
  RoundsNote told();

 private:
  struct Label {
    TensorNote first;
    std::set<std::string> tensors;
    std::int64_t given = 0;
    std::optional<std::int64_t> from;
    std::string refused;
  };
  std::map<std::string, Label> labels_;
  RoundsNote told_;
};

}  // namespace weir::real
