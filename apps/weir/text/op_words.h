// Describes ops in words, with the names of machines and layers.
#pragma once

#include <string>

#include "core/experiment/planned_run.h"

namespace weir {

struct OpWords {
  std::string what;   // for example "send gpu[0] to cpu[1]"
  std::string layer;  // the layer's name; empty if there is none
  std::string part;   // for example "b7[0+4096]"; empty if the op neither moves nor sums data
};
OpWords op_words(const Op& op, const PlannedRun& of);

/// "op 17 (send gpu[0] to cpu[1], layer 'conv1', b7[0+4096])".
std::string whole_words(const Op& op, const PlannedRun& of);

}  // namespace weir
