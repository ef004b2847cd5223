// Random clusters, traces and options, each from one number: what property tests run on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/cluster/topology.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/trace.h"

namespace weir::property {

/// A value. Small enough for a toy world: a model has at most some 10^5 elements and is cut into some dozens
/// of parts.
struct Case {
  std::uint64_t seed = 0;
  Topology topology;
  Trace trace;
  Options options;
};

/// The case of this number; the same on every machine.
Case random_case(std::uint64_t seed);

/// The case as the strategy takes it: an optimizer is for parameter servers only.
Case case_for(const Case& random, std::string_view strategy);

/// How to get the case again, and what is in it: "random_case(17): 3 GPU machines, ...".
std::string text(const Case& random);

}  // namespace weir::property
