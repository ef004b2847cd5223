// The stages that a gradient passes on its way from backward to forward, and the times of an op in them.
#pragma once

#include <array>
#include <optional>

#include "core/document/fields.h"
#include "core/hardware/work.h"
#include "core/run/record.h"

namespace weir {

enum class Stage {
  kBackward,
  kLocalOut,  // from GPUs towards the memory that messages leave from: reduce-scatter, reduce, copies out
  kMessages,
  kAllReduce,  // over machines
  kSum,
  kUpdate,
  kLocalIn,     // back: copies in, all-gather, broadcast
  kCopyWithin,  // between two memories of one kind in a machine
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

/// None of receives, whose message stands at its send, and of joins, which do nothing.
std::optional<Stage> stage_of(const Op& op, const WorkTable& works);

/// The op's times in an iteration. A send stands for its message: that was submitted once both of its ends
/// were, and completed once both had. (So clocks of two machines meet here.)
OpRecord times_of(const Op& op, const Plan& plan, const Record& record, int iteration);

}  // namespace weir
