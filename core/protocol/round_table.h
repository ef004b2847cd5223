// Finds out where ranks disagree about what they hand over under one name, or without any: in each turn of a
// label all must have the same tensor.
#pragma once

#include <map>
#include <string>

#include "core/protocol/session_notes.h"

namespace weir {

/// Of the leader, which is told of the turns that could differ (backends/real/session/submission_rounds.h). A
/// value.
class RoundTable {
 public:
  struct Finding {
    bool watch = false;  // ranks are to tell of this label from this turn on
    std::string wrong;   // what ranks disagree about; told once for each label
  };
  /// `ranks`: how many sum the tensor.
  Finding take(int rank, const RoundNote& turn, std::size_t ranks);

 private:
  struct Said {
    RoundNote turn;  // as the first rank has told it
    int rank = 0;
    std::size_t times = 0;
  };
  struct Label {
    std::map<std::int64_t, Said> turns;  // that not all have told
    std::int64_t from = 0;
    bool wrong = false;
  };
  std::map<std::string, Label> labels_;
};

}  // namespace weir
