// Leads a job: lets the machines join, gives them the experiment, starts them together, and collects their
// parts of the record. The protocol is in core/protocol/job_coordinator.h. This is its driver, which has the
// socket and the clock.
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
  /// How long all machines together may take for a step. Preparing memory gets extra time by its size.
  Duration patience{30'000'000'000};
  std::function<Result<void>()> watch;  // called about ten times a second; its error ends the job
  std::function<void()> joined;         // called once all machines have joined
  std::vector<std::string> hosts;       // by machine: the host it was started on; empty if unknown
};

/// The result of a job.
struct JobResult {
  Record record;
  std::int64_t checked = 0;               // number of elements whose sums were checked, on all machines
  std::map<std::string, int> transports;  // number of pairs of machines by the wire that moved their messages
  std::map<std::string, int> on_tcp;      // by reason: lane ends on TCP that could have had another wire
};

/// Runs one job. One owner thread.
class Coordinator {
 public:
  Coordinator(std::unique_ptr<ControlSocket> socket, const CoordinatorSettings& settings)
      : socket_(std::move(socket)), settings_(settings) {}

  /// Runs the plan with one process for each machine. The machines make the plan themselves, from the inputs.
  /// Fails if a machine does not come, has another plan, fails or falls silent. Then it names that machine
  /// and tells all others.
  Result<JobResult> run(const InputsNote& inputs, const Plan& plan, const Cluster& cluster);

 private:
  Result<JobTerms> terms(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) const;
  /// Waits for a note and passes it to the protocol. If a deadline comes first, the protocol checks its
  /// deadlines.
  void step(JobCoordinator& machine);
  void carry_out(CoordinatorAction action, const Plan& plan, Record& record);

  std::unique_ptr<ControlSocket> socket_;
  CoordinatorSettings settings_;
};

}  // namespace weir::real
