// The record of a run, the same in every world: for each op of each iteration, when it was submitted, when it
// began to use its resources and when it completed. Reports, timelines and plots are made from records.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace weir {

/// The times of one op in one iteration. A node submits an op at the instant when it becomes ready.
struct OpRecord {
  Instant submitted;
  Instant started;
  Instant completed;
  friend bool operator==(const OpRecord&, const OpRecord&) = default;
};

/// A value: the times of every op of a plan in each iteration of the run.
struct Record {
  Record() = default;
  Record(std::size_t ops, int count)
      : iterations(static_cast<std::size_t>(count), std::vector<OpRecord>(ops)) {}

  const OpRecord& of(OpId op, int iteration) const {
    return iterations[static_cast<std::size_t>(iteration)][op.index()];
  }
  OpRecord& of(OpId op, int iteration) { return iterations[static_cast<std::size_t>(iteration)][op.index()]; }

  std::vector<std::vector<OpRecord>> iterations;  // [iteration][op]
  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace weir
