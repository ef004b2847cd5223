// Plans for people: as text, one line an op, and as a picture. Both depend on the plan alone, so they serve
// as golden files.
#pragma once

#include <string>

#include "core/plan/plan.h"

namespace weir {

/// The plan's buffers, and each machine's ops with the ops that they wait for, as "12 receive b7[0+4096]
/// message 5 from 2 after 9 11 carried 30". Settings at their default are left out.
std::string text(const Plan& plan);

/// The plan in Graphviz's language: one cluster a machine, messages between them, carried edges dashed.
std::string graphviz(const Plan& plan);

/// One op in words, for error messages: "op 17 (sum on machine 3, layer 5)".
std::string words(const Op& op);

/// A slice: "b7[0+4096]" in host memory, "b7:1[0+4096]" on GPU 1, "b7:every[0+4096]", "b7:shards[0+4096]".
std::string text(const Plan& plan, const Slice& slice);

}  // namespace weir
