// Runs one machine's part of a plan through a port, iteration after iteration. A pure state machine: it never
// blocks, owns no thread, socket or clock, and does not know its world.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "core/run/port.h"
#include "core/run/record.h"

namespace weir {

/// Which ops begin an iteration together.
enum class Rounds {
  kTogether,  // all ops of the machine
  kApart,  // ops that edges connect: each such part of the plan runs as fast as it can, independently of the
           // others (Options::independent_layers)
};

/// Invariants:
///  * An op is submitted as soon as everything that it waits for has completed, exactly once per iteration.
///  * An iteration may begin before the previous one has ended, but not before the one before that has ended.
///    With Rounds::kApart, each part of the plan counts its own iterations.
///  * A join never reaches the port: the node completes it at once.
///  * Memory does not grow with the number of iterations, except for the record.
/// The plan and the record must outlive the node. It belongs to one thread.
class Node {
 public:
  /// Runs the machine's ops of the plan `iterations` times. `record` must have room for them.
  Node(const Plan& plan, MachineId machine, int iterations, Record& record)
      : Node(plan, machine, iterations, &record, Rounds::kTogether) {}
  /// The same without a record.
  Node(const Plan& plan, MachineId machine, int iterations, Rounds rounds)
      : Node(plan, machine, iterations, nullptr, rounds) {}

  /// Polls completions and submits the ops that became ready. True if anything completed or was submitted.
  bool pump(Port& port);

  /// Lets the processor prefetch the data needed when this op of the machine completes.
  void prefetch(OpId op) const {
    __builtin_prefetch(&progress_[op.index() - first_]);
    const int iteration = groups_.front().first_open;
    if (record_ != nullptr && iteration < iterations_) __builtin_prefetch(&record_->of(op, iteration));
  }

  /// All iterations are done, or an op failed.
  bool finished() const { return unfinished_ == 0 || error_.has_value(); }
  /// The error of the first op that failed, if one did.
  const std::optional<Error>& error() const { return error_; }

  /// Up to `most` ops that were submitted and have not completed, for messages about stuck runs.
  std::vector<OpId> outstanding(std::size_t most) const;

 private:
  // There are counters for three consecutive iterations: two that may run, and one that carried edges lead
  // to.
  static constexpr int kGenerations = 3;
  struct Progress {                                      // of an op
    std::array<std::uint32_t, kGenerations> waits = {};  // by generation: ops that it waits for
    int iteration = 0;                                   // the one that it is in or runs next
    std::uint32_t group = 0;                             // the group that it belongs to
    bool submitted = false;
  };
  struct Group {                                      // of ops that begin iterations together
    std::vector<std::uint32_t> ops;                   // local numbers
    std::array<std::size_t, kGenerations> left = {};  // by generation: ops not completed
    int first_open = 0;                               // the earliest iteration that is not done
  };

  struct Ready {
    int iteration;
    std::uint32_t local;  // index
    friend auto operator<=>(const Ready&, const Ready&) = default;
  };

  Node(const Plan& plan, MachineId machine, int iterations, Record* record, Rounds rounds);
  static std::size_t generation(int iteration) { return static_cast<std::size_t>(iteration % kGenerations); }
  bool may_start(const Progress& progress, int iteration) const {
    return iteration < iterations_ && iteration <= groups_[progress.group].first_open + 1 &&
           progress.iteration == iteration && !progress.submitted &&
           progress.waits[generation(iteration)] == 0;
  }
  void divide();
  void open(Group& group, int iteration);
  void complete(const Completion& completion);
  void satisfy(std::size_t local, int iteration);
  void collect_ready(const Group& group, int iteration);
  void start(const Ready& ready, Port& port);

  const Plan* plan_;
  std::span<const Op> ops_;
  std::size_t first_;  // id of the first op
  int iterations_;
  Record* record_;
  std::vector<Progress> progress_;  // by op
  std::vector<Group> groups_;       // none if there is nothing to do
  std::size_t unfinished_ = 0;      // groups
  std::vector<Ready> ready_;
  std::vector<Ready> batch_;
  std::vector<Completion> completions_;
  std::optional<Error> error_;
};

}  // namespace weir
