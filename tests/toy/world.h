// The toy world: a plan run on real numbers in memory, in virtual time. Backward writes a different number
// into every element of every GPU in every iteration; forward checks that each element it reads is the sum of
// them all.
#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "core/simulate/simulation.h"

namespace weir::toy {

/// The memory of all machines of a plan. Elements are counted in units of two bytes, the smallest element, so
/// that one memory serves every dtype; the numbers are small integers, so that float sums are exact.
class Memories {
 public:
  explicit Memories(const Plan& plan);

  /// Does what the op does to memory, as it completes.
  void apply(const Op& op);

  /// What the slice holds, element by element, and the way to change it.
  std::vector<float> read(const Slice& slice, Dtype dtype);
  void write(const Slice& slice, Dtype dtype, const std::vector<float>& values);
  /// The sum of what a machine's GPUs bring to an all-reduce, unit by unit, and the way to put a sum there.
  std::vector<float> contribution(const Op& op) const;
  void spread(const Op& op, const std::vector<float>& sum);

  /// The first element that a forward found wrong, in words; empty if none.
  const std::string& wrong() const { return wrong_; }
  /// Elements that forwards have checked.
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
