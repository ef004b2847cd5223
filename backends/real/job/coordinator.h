// Leads a job: lets the machines join, gives them the experiment, starts them together, and collects their
// parts of the record. What it says when stands in core/protocol/job_coordinator.h; this is its driver, which
// has the socket and the clock.
#pragma once

#include <functional>
#include <memory>

#include "backends/real/job/notes.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/protocol/job_coordinator.h"
#include "core/run/record.h"

namespace weir::real {

struct CoordinatorSettings {
  std::string version;  // of the program: all machines must have the same
  /// For all machines to take a step together; preparing their memory has as much more as that takes.
  Duration patience{30'000'000'000};
  std::function<Result<void>()> watch;  // called some ten times a second; what it fails with ends the job
  std::function<void()> joined;         // called once all machines have joined
  std::vector<std::string> hosts;       // by machine, on which each was started; empty if nobody knows
};

/// What a job leaves.
struct JobResult {
  Record record;
  std::int64_t checked = 0;               // elements whose sums were checked, on all machines
  std::map<std::string, int> transports;  // how many pairs of machines moved messages through each
  std::map<std::string, int> on_tcp;      // how many ends of lanes stay on TCP though they might not, by why
};

/// For one job. One owner thread.
class Coordinator {
 public:
  Coordinator(std::unique_ptr<ControlSocket> socket, const CoordinatorSettings& settings)
      : socket_(std::move(socket)), settings_(settings) {}

  /// Runs the plan, which machines make anew from the inputs, on one machine each. Fails naming the machine
  /// that did not come, differs, failed or fell silent; all others are told then.
  Result<JobResult> run(const InputsNote& inputs, const Plan& plan, const Cluster& cluster);

 private:
  Result<JobTerms> terms(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) const;
  /// Hears what comes until the machine wants to be asked for its deadlines, and asks.
  void step(JobCoordinator& machine);
  void carry_out(CoordinatorAction action, const Plan& plan, Record& record);

  std::unique_ptr<ControlSocket> socket_;
  CoordinatorSettings settings_;
};

}  // namespace weir::real
