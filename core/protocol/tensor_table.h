// Which tensors the ranks of a session know: those that all their ranks know are to be opened, and those
// about which ranks disagree are refused. Of the leader; pure.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/session_notes.h"

namespace weir {

/// A value.
class TensorTable {
 public:
  explicit TensorTable(std::size_t ranks) : ranks_(ranks) {}

  struct Declared {
    TensorNote tensor;       // as the first rank that declared it has it
    int first = 0;           // that rank
    std::map<int, bool> by;  // of its ranks
    bool refused = false;
    bool known_to_all() const {
      return std::all_of(by.begin(), by.end(), [](const auto& one) { return one.second; });
    }
  };

  /// A rank knows these. Returns what all ranks are to be told is refused; fails if the rank may not.
  Result<std::vector<RefuseNote>> declare(int rank, const DeclareNote& note);
  /// Nobody uses it any more.
  RefuseNote refuse(const std::string& name, const std::string& why);
  /// What is to be opened next, without its number and token; none if nothing is.
  std::optional<OpenNote> next();

  /// Null if nobody has declared it.
  const Declared* find(const std::string& name) const;
  /// The ranks of a tensor; all of them of one that nobody has declared.
  std::vector<int> ranks_of(const std::string& name) const;

 private:
  std::vector<int> ranks_of(const TensorNote& tensor) const;
  void gather();

  std::size_t ranks_;
  std::map<std::string, Declared> declared_;  // by name
  // Names that the first of their ranks has declared together, not opened yet.
  std::deque<std::vector<std::string>> batches_;
  std::deque<OpenNote> to_open_;  // in this order
};

}  // namespace weir
