// Runs plans on a simulated cluster: the nodes of all machines and their ports, on top of a fluid engine.
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

/// Runs the plan's iterations on a fresh engine. Fails with the reason if the run gets stuck (and says what
/// waits for what), if a machine with work fails for good, or if the run breaks physics. The same arguments
/// give the same record, bit for bit.
Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                        Engine& engine, const Observer& observer = {});

/// The result of several jobs on one cluster.
struct SharedRun {
  Record record;                           // of the first job
  std::vector<std::vector<Instant>> ends;  // of the iterations of each other job
  bool tied = false;                       // Dispatcher::tied() of the first job
};

/// The first job runs `iterations` iterations; the others repeat theirs until it has finished. Jobs share
/// links, and the cores of machines on which several of them sum, but nothing else: a machine with GPUs
/// belongs to one job. The engine's rates must be reached_rates(). Every iteration of another job must take
/// some time.
Result<SharedRun> simulate(const Cluster& cluster, std::span<const Job> jobs, int iterations,
                           const Conditions& conditions, Engine& engine, const Observer& observer = {});

/// Simulates one job whose machines all do the same (folding.h) by simulating one of them. The job must bring
/// its works. The result equals the run of the whole plan on a FluidEngine, up to a nanosecond where rounding
/// differs. The cost is that of one machine, plus that of finding out whether machines do the same.
/// None if the machines differ, also through these conditions or this model; if ties decide; if the run takes
/// so long that rounding may decide; or if the run fails. The run of the whole plan then says why.
std::optional<SharedRun> simulate_folded(const Cluster& cluster, const Job& job, int iterations,
                                         const Conditions& conditions);

/// reached_rates() of work.h for several jobs that share a cluster, by link. The NICs of a machine with GPUs
/// get the rate that its job's messages reach. (Only all-reduces reach less than a NIC's rate, and plans with
/// all-reduces use no other machines.)
std::vector<double> reached_rates(const Cluster& cluster, std::span<const Job> jobs);

}  // namespace weir
