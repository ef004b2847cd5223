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

/// Invariants:
///  * An op is submitted when all that it waits for has completed, at once and exactly once per iteration.
///  * An iteration may begin before the one before it has ended, but not before the second-last one has.
///  * A join never reaches the port: the node completes it at once.
///  * Memory does not grow with the number of iterations, except for the record.
/// The plan and the record outlive the node. One owner thread.
class Node {
 public:
  /// Runs the machine's ops of the plan `iterations` times; `record` has room for them.
  Node(const Plan& plan, MachineId machine, int iterations, Record& record);

  /// Takes what has completed, submits what has become ready. True if anything completed or was submitted.
  bool pump(Port& port);

  /// All iterations are done, or an op failed.
  bool finished() const { return first_open_ == iterations_ || error_.has_value(); }
  /// The first op error, if one came.
  const std::optional<Error>& error() const { return error_; }

  /// What the node is waiting for, for messages about stuck runs: up to `most` ops that were submitted and
  /// have not completed.
  std::vector<OpId> outstanding(std::size_t most) const;

 private:
  // Counters of three neighbouring iterations: two that may run, and one that carried edges reach into.
  static constexpr int kGenerations = 3;
  struct Progress {                                      // of an op
    std::array<std::uint32_t, kGenerations> waits = {};  // by generation: ops that it waits for
    int iteration = 0;                                   // it runs next, or is in
    bool submitted = false;
  };

  struct Ready {
    int iteration;
    std::uint32_t local;  // index
    friend auto operator<=>(const Ready&, const Ready&) = default;
  };

  static std::size_t generation(int iteration) { return static_cast<std::size_t>(iteration % kGenerations); }
  bool may_start(const Progress& progress, int iteration) const {
    return iteration < iterations_ && iteration <= first_open_ + 1 && progress.iteration == iteration &&
           !progress.submitted && progress.waits[generation(iteration)] == 0;
  }
  void open(int iteration);
  void complete(const Completion& completion);
  void satisfy(std::size_t local, int iteration);
  void collect_ready(int iteration);
  void start(const Ready& ready, Port& port);

  const Plan* plan_;
  std::span<const Op> ops_;
  std::size_t first_;  // id of the first op
  int iterations_;
  Record* record_;
  std::vector<Progress> progress_;                   // by op
  std::array<std::size_t, kGenerations> left_ = {};  // by generation: ops not completed
  int first_open_ = 0;                               // the earliest iteration that is not done
  std::vector<Ready> ready_;
  std::vector<Ready> batch_;
  std::vector<Completion> completions_;
  std::optional<Error> error_;
};

}  // namespace weir
