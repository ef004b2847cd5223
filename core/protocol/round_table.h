// Finds disagreements between ranks about the tensors that they hand over under one name, or without a name.
// In each round of a label all ranks must hand over the same tensor.
#pragma once

#include <map>
#include <string>

#include "core/protocol/session_notes.h"

namespace weir {

/// Used by the leader. Ranks report to it the rounds that could differ
/// (backends/real/session/submission_rounds.h). A value.
class RoundTable {
 public:
  struct Finding {
    bool watch = false;  // ranks should report this label from this round on
    std::string wrong;   // what ranks disagree about; reported once for each label
  };
  /// `ranks`: the number of ranks that sum the tensor.
  Finding take(int rank, const RoundNote& round, std::size_t ranks);

 private:
  struct Reported {
    RoundNote round;  // as the first rank reported it
    int rank = 0;
    std::size_t times = 0;
  };
  struct Label {
    std::map<std::int64_t, Reported> rounds;  // rounds that not all ranks have reported
    std::int64_t from = 0;
    bool wrong = false;
  };
  std::map<std::string, Label> labels_;
};

}  // namespace weir
