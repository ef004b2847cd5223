// Plans with one defect, to test that checks catch it.
#pragma once

#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/plan/plan.h"

namespace weir::fuzz {

enum class Mutation {
  kDropEdge,
  kDropCarriedEdge,
  kShiftSlice,
  kSwapTargets,
  kDropReceive,
  kDropAllReduce,
  kDuplicateSum,
  kWrongNic,
};
inline constexpr Mutation kMutations[] = {
    Mutation::kDropEdge,    Mutation::kDropCarriedEdge, Mutation::kShiftSlice,   Mutation::kSwapTargets,
    Mutation::kDropReceive, Mutation::kDropAllReduce,   Mutation::kDuplicateSum, Mutation::kWrongNic};

std::string name(Mutation mutation);

/// The plan with one random change of this kind; none if the plan has nothing to change in this way.
std::optional<Plan> mutant(const Plan& plan, Mutation mutation, Random random);

/// The plan without the edge.
Plan without(const Plan& plan, OpId before, OpId after);

}  // namespace weir::fuzz
