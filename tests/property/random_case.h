// Random clusters, traces and options for property tests. One number determines each case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/cluster/topology.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/trace.h"

namespace weir::property {

/// A value. Small enough for a toy world: a model has at most about 10^5 elements in a few dozen parts.
struct Case {
  std::uint64_t seed = 0;
  Topology topology;
  Trace trace;
  Options options;
};

/// The case with this number; the same on every machine.
Case random_case(std::uint64_t seed);

/// The case as this strategy accepts it: only parameter servers have an optimizer.
Case case_for(const Case& random, std::string_view strategy);

/// How to reproduce the case, and what it contains: "random_case(17): 3 GPU machines, ...".
std::string text(const Case& random);

}  // namespace weir::property
