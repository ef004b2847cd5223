// Runs plans on a simulated cluster: the nodes of all machines, their ports, and a fluid engine below.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/model.h"
#include "core/plan/plan.h"
#include "core/run/queue.h"
#include "core/run/record.h"
#include "core/simulate/conditions.h"
#include "core/simulate/engines/engine.h"
#include "core/simulate/simulated_job.h"

namespace weir {

struct SimulationSettings {
  Dispatch dispatch;
  Model model;
  int iterations = 1;
  Conditions conditions = {};
};

/// Runs the plan's iterations on a fresh engine. Fails, and says why, if the run gets stuck (naming what
/// waits for what), if a machine that the plan has work for fails for good, or if it breaks physics. The same
/// arguments give the same record, bit for bit.
Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                        Engine& engine, const Observer& observer = {});

/// Several jobs on one cluster.
struct SharedRun {
  Record record;                           // of the first job
  std::vector<std::vector<Instant>> ends;  // of the iterations of each of the others
  bool tied = false;                       // Dispatcher::tied() of the first job
};

/// The first job runs that many iterations, and the others run on and on beside it until it has finished.
/// They share links, and the cores of machines on which several sum, and nothing else: machines with GPUs
/// belong to one job each. The engine's rates are reached_rates(). An iteration of another job takes time.
Result<SharedRun> simulate(const Cluster& cluster, std::span<const Job> jobs, int iterations,
                           const Conditions& conditions, Engine& engine, const Observer& observer = {});

/// The run of one job, which brings its works, whose machines all do the same (folding.h), of which one is
/// simulated: the run of the whole on a FluidEngine, but for a nanosecond where one rounds another way, at
/// the cost of one machine's beside that of finding out. None if they do not do the same, not under these
/// conditions or this model, if ties decide, if it takes so long that rounding may decide, or if the run
/// fails: what the matter is then, the whole's run tells.
std::optional<SharedRun> simulate_folded(const Cluster& cluster, const Job& job, int iterations,
                                         const Conditions& conditions);

/// What reached_rates() of work.h are where several jobs share a cluster, by link: of NICs of machines with
/// GPUs what their job's messages reach. (Plans whose messages reach less than a NIC's rate, all-reduces, use
/// no other machines.)
std::vector<double> reached_rates(const Cluster& cluster, std::span<const Job> jobs);

}  // namespace weir
