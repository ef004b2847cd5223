// Ops in words that name machines and layers.
#pragma once

#include <string>

#include "core/experiment/planned_run.h"

namespace weir {

struct OpWords {
  std::string what;   // "send gpu[0] to cpu[1]"
  std::string layer;  // its name; empty without one
  std::string part;   // "b7[0+4096]"; empty of an op that moves and sums nothing
};
OpWords op_words(const Op& op, const PlannedRun& of);

/// "op 17 (send gpu[0] to cpu[1], layer 'conv1', b7[0+4096])".
std::string whole_words(const Op& op, const PlannedRun& of);

}  // namespace weir
