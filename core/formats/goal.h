// A plan as a schedule in GOAL, the language that LogGOPSim and ATLAHS simulate: machines are ranks, messages
// sends and receives with tags, all else calculations of a given time, and edges `requires`. Source: T.
// Hoefler et al., "LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model", LSAP 2010, and the
// grammar of its txt2bin.
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir {

/// What GOAL wants to know of an op that is no message.
struct GoalWork {
  Duration time;
  int cpu = 0;  // of its rank, which does one calculation at a time; GOAL has 256
};

/// As many iterations of the plan, one after the other as carried edges say. `works` has one for each op, by
/// id; those of messages are not asked. Op 17 of iteration 2 is called i2_17, and its message's tag is its
/// own in the whole schedule. Fails where GOAL's numbers are too small.
Result<std::string> goal(const Plan& plan, std::span<const GoalWork> works, int iterations);

}  // namespace weir
