// The stages of a gradient on its way from backward to forward, and the times of an op in them.
#pragma once

#include <array>
#include <optional>

#include "core/document/fields.h"
#include "core/hardware/work.h"
#include "core/run/record.h"

namespace weir {

enum class Stage {
  kBackward,
  kLocalOut,  // from GPUs to the memory that messages leave from: reduce-scatter, reduce, copies out
  kMessages,
  kAllReduce,  // among machines
  kSum,
  kUpdate,
  kLocalIn,     // the way back: copies in, all-gather, broadcast
  kCopyWithin,  // within a machine, between two memories of one kind
  kWait,
  kForward,
};

constexpr auto enum_names(Stage /*stage*/) {
  return std::array<Named<Stage>, 10>{{{Stage::kBackward, "backward"},
                                       {Stage::kLocalOut, "local out"},
                                       {Stage::kMessages, "messages"},
                                       {Stage::kAllReduce, "all-reduces"},
                                       {Stage::kSum, "sums"},
                                       {Stage::kUpdate, "updates"},
                                       {Stage::kLocalIn, "local in"},
                                       {Stage::kCopyWithin, "copies within"},
                                       {Stage::kWait, "waits"},
                                       {Stage::kForward, "forward"}}};
}

/// None for receives, which count at their send, and for joins, which do nothing.
std::optional<Stage> stage_of(const Op& op, const WorkTable& works);

/// The op's times in an iteration. A send represents its message: submitted when both ends were submitted,
/// completed when both were completed. (So this compares clocks of two machines.)
OpRecord times_of(const Op& op, const Plan& plan, const Record& record, int iteration);

}  // namespace weir
