// Leads a job: lets the machines join, gives them the experiment, starts them together, and collects their
// parts of the record.
#pragma once

#include <functional>
#include <memory>

#include "backends/real/job/notes.h"
#include "backends/real/socket.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/run/record.h"

namespace weir::real {

struct CoordinatorSettings {
  std::string version;                  // of the program: all machines must have the same
  Duration patience{30'000'000'000};    // for all machines to take a step together
  Duration silence{4'000'000'000};      // after which a machine that says nothing while it runs is lost
  std::function<Result<void>()> watch;  // called some ten times a second; what it fails with ends the job
  std::function<void()> joined;         // called once all machines have joined
};

/// What a job leaves.
struct JobResult {
  Record record;
  std::int64_t checked = 0;  // elements whose sums were checked, on all machines
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
  struct Member {
    std::string connection;  // empty until it has joined
    Place place;
    bool answered = false;  // in this step
    Instant heard;
    Duration clock;  // how far its clock is ahead of ours
  };

  Result<void> join(const Cluster& cluster);
  Result<void> seat(const Note& note, const Cluster& cluster);
  /// Takes notes until every machine has said a T, and gives each to `take`.
  template <class T>
  Result<void> gather(const Cluster& cluster, Duration silence, Duration patience,
                      const std::function<Result<void>(std::size_t machine, const T&, const Note&)>& take);
  Result<void> compare_clocks(const Cluster& cluster);
  Result<void> take_record(std::size_t machine, const Note& note, const Plan& plan, Record& record) const;
  template <class T>
  void tell_all(const T& content);
  std::string missing(const Cluster& cluster) const;
  std::optional<Error> root_cause() const;
  Result<JobResult> lead(const InputsNote& inputs, const Plan& plan, const Cluster& cluster);

  std::unique_ptr<ControlSocket> socket_;
  CoordinatorSettings settings_;
  std::vector<Member> members_;
};

}  // namespace weir::real
