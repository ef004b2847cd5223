// Writes a plan as a schedule in GOAL, the language that LogGOPSim and ATLAHS simulate. Machines become
// ranks, messages become sends and receives with tags, all other ops become calculations of a given time, and
// edges become `requires`. Source: T. Hoefler et al., "LogGOPSim: Simulating Large-Scale Applications in the
// LogGOPS Model", LSAP 2010, and the grammar of its txt2bin.
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir {

/// What GOAL needs to know about an op that is not a message.
struct GoalWork {
  Duration time;
  int cpu = 0;  // a CPU of its rank, which does one calculation at a time; GOAL has 256
};

/// The schedule of `iterations` iterations of the plan, which follow each other by carried edges. `works` has
/// an entry for each op, by id; entries of messages are ignored. Op 17 of iteration 2 is called i2_17. Each
/// message has a unique tag in the whole schedule. Fails if the schedule exceeds the number ranges of GOAL.
Result<std::string> goal(const Plan& plan, std::span<const GoalWork> works, int iterations);

}  // namespace weir
