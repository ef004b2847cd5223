// Tracks which tensors the ranks of a session know. Tensors that all their ranks know are opened; tensors
// about which ranks disagree are refused. Used by the leader; pure.
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
    TensorNote tensor;       // as the first rank declared it
    int first = 0;           // that rank
    std::map<int, bool> by;  // for each of its ranks: whether it has declared the tensor
    bool refused = false;
    bool known_to_all() const {
      return std::all_of(by.begin(), by.end(), [](const auto& one) { return one.second; });
    }
  };

  /// A rank declares these tensors. Returns the refusals to send to all ranks. Fails if the rank may not
  /// declare them.
  Result<std::vector<RefuseNote>> declare(int rank, const DeclareNote& note);
  /// Nobody may use this tensor any more.
  RefuseNote refuse(const std::string& name, const std::string& why);
  /// The next group to open, without its number and token; none if there is none.
  std::optional<OpenNote> next();

  /// Null if nobody has declared it.
  const Declared* find(const std::string& name) const;
  /// The ranks of a tensor; all ranks if nobody has declared it.
  std::vector<int> ranks_of(const std::string& name) const;

 private:
  std::vector<int> ranks_of(const TensorNote& tensor) const;
  void gather();

  std::size_t ranks_;
  std::map<std::string, Declared> declared_;  // by name
  // Names that their first rank declared together and that are not open yet.
  std::deque<std::vector<std::string>> batches_;
  std::deque<OpenNote> to_open_;  // in this order
};

}  // namespace weir
