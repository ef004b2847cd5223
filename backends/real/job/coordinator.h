// Leads a job: lets the machines join, gives them the experiment, starts them together, and collects their
// parts of the record.
#pragma once

#include <functional>
#include <memory>

#include "backends/real/job/notes.h"
#include "backends/real/job/silence.h"
#include "backends/real/wire/socket.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
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
  struct Member {
    std::string connection;  // empty until it has joined
    Place place;
    bool answered = false;  // in this step
    Silence silence;
    std::size_t recorded = 0;  // bytes of its part of the record that have come
    Duration clock;            // how far its clock is ahead of ours
  };

  /// For how long all may take a step, and what is told of those that take longer, after their names.
  struct Wait {
    Duration patience;
    std::string hint;
  };

  Result<void> join(const Cluster& cluster);
  Result<void> seat(const Note& note, const Cluster& cluster);
  /// The machine that the note is from, which has been heard now; none if it is from somebody else.
  std::optional<std::size_t> sender(const Note& note);
  /// The next note, if one comes soon. Fails if the job is to end: somebody watches over it and says so, or a
  /// machine that has joined has fallen silent.
  Result<std::optional<Note>> next(const Cluster& cluster);
  /// Whether all have answered in this step.
  bool complete() const;
  /// Takes notes until every machine has said a T, and gives each to `take`; before, machines may say what
  /// `aside` takes.
  template <class T>
  Result<void> gather(
      const Cluster& cluster, const Wait& wait,
      const std::function<Result<void>(std::size_t machine, const T&)>& take,
      const std::function<Result<void>(std::size_t machine, const RecordNote&, const Note&)>& aside = {});
  Result<void> compare_clocks(const Cluster& cluster);
  Result<JobResult> collect(const Plan& plan, const Cluster& cluster, int iterations);
  Result<void> take_piece(std::size_t machine, const RecordNote& piece, const Note& note, const Plan& plan,
                          Record& record);
  template <class T>
  void tell_all(const T& content);
  /// Tells machines that join soon after the job has failed why it has.
  void turn_away(const Error& why);
  std::string missing(const Cluster& cluster) const;
  std::optional<Error> root_cause() const;
  /// Lets the machines, which all have planned, meet and run the plan so often.
  Result<JobResult> run_together(const Plan& plan, const Cluster& cluster, int iterations);
  /// For all to make the plan and their buffers.
  Wait planning(const InputsNote& inputs, const Plan& plan, const Cluster& cluster) const;
  Result<JobResult> lead(const InputsNote& inputs, const Plan& plan, const Cluster& cluster);

  std::unique_ptr<ControlSocket> socket_;
  CoordinatorSettings settings_;
  std::vector<Member> members_;
  std::string clique_;  // where the GPUs of all machines meet, as one of them has said
};

}  // namespace weir::real
