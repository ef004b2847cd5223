// When actions of CPU threads took effect: on the GPU's stream if there is one, otherwise immediately.
#pragma once

#include <vector>

#include "core/formats/kineto/kineto_step.h"

namespace weir::kineto {

/// A value.
class Clock {
 public:
  Clock(const Recording& recording, const Iteration& iteration);

  bool gpu() const { return !launched_.empty(); }
  /// How many kernels, or graphs of kernels, the CPU launched between these instants, and for how many of
  /// these launches no work was recorded.
  struct Kernels {
    std::size_t launched = 0;
    std::size_t missing = 0;
  };
  Kernels kernels(Instant from, Instant to) const;
  /// When the first work begins that the CPU launches at or after this instant.
  Instant begin(Instant cpu) const;
  /// When all work has ended that the CPU launched before this instant.
  Instant end(Instant cpu) const;

  /// The time between two instants, without times in which only collectives ran.
  Duration computing(Instant from, Instant to) const;

  /// How many pieces of the stream's work began between these instants, and how many have no recorded launch.
  struct Began {
    std::size_t all = 0;
    std::size_t unlaunched = 0;
  };
  Began work(Instant from, Instant to) const;
  /// How much other streams worked, collectives aside, relative to this stream.
  double elsewhere() const { return elsewhere_; }

 private:
  struct Launched {
    Instant at;     // on the CPU
    Instant begin;  // on the GPU
    Instant end;    // of this and all earlier work
  };
  void follow_stream(const Recording& recording);
  void match_kernels(const Recording& recording);
  void expose(const std::vector<Span>& collectives, const std::vector<Span>& work);

  std::vector<Launched> launched_;
  double elsewhere_ = 0;
  std::vector<Instant> unlaunched_;  // when work without a recorded launch began
  struct Kernel {
    Instant at;  // on the CPU
    bool recorded;
  };
  std::vector<Kernel> kernels_;
  std::vector<Span> exposed_;  // times in which only collectives ran, ordered and disjoint
};

}  // namespace weir::kineto
