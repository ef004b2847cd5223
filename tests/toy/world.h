// The toy world: runs a plan on real numbers in memory, in virtual time. In every iteration, backward writes
// a different number into every element on every GPU. Forward checks that each element it reads is the sum
// over all GPUs.
#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "core/simulate/simulation.h"

namespace weir::toy {

/// The memory of all machines of a plan. It counts elements in units of two bytes, the smallest element, so
/// that one memory serves every dtype. The numbers are small integers, so that float sums are exact.
class Memories {
 public:
  explicit Memories(const Plan& plan);

  /// Does the op's work on memory, when it completes.
  void apply(const Op& op);

  /// Reads and writes a slice, element by element.
  std::vector<float> read(const Slice& slice, Dtype dtype);
  void write(const Slice& slice, Dtype dtype, const std::vector<float>& values);
  /// The sum that a machine's GPUs contribute to an all-reduce, unit by unit; and writes a sum to these GPUs.
  std::vector<float> contribution(const Op& op) const;
  void spread(const Op& op, const std::vector<float>& sum);

  /// A description of the first element that a forward found wrong; empty if there is none.
  const std::string& wrong() const { return wrong_; }
  /// The number of elements that forwards have checked.
  std::size_t checked() const { return checked_; }

 private:
  using Replica = std::vector<float>;
  std::vector<float*> cells(const Slice& slice, Dtype dtype);
  void backward(const Op& op);
  void forward(const Op& op);
  void move(const Op& op, const Slice& target);
  void collective(const Op& op);
  void all_reduce(const Op& op);

  const Plan* plan_;
  std::vector<std::vector<Replica>> buffers_;  // [buffer][replica]
  std::vector<int> backwards_;                 // by op: how often it ran
  std::vector<int> forwards_;
  std::vector<std::pair<std::size_t, int>> writers_;  // machine and GPU of every gradient
  std::string wrong_;
  std::size_t checked_ = 0;
};

struct ToyRun {
  Record record;
  std::string wrong;
  std::size_t checked = 0;
};

/// Runs the plan in the toy world.
Result<ToyRun> run(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings);

}  // namespace weir::toy
