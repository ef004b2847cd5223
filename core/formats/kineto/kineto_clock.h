// When things that the CPU's threads did took effect: on the GPU's stream where there is one, else at once.
#pragma once

#include <vector>

#include "core/formats/kineto/kineto_step.h"

namespace weir::kineto {

/// A value.
class Clock {
 public:
  Clock(const Recording& recording, const Iteration& iteration);

  bool gpu() const { return !launched_.empty(); }
  /// How often the CPU launched a kernel, or a graph of some, between these instants, and how often none of
  /// it was recorded.
  struct Kernels {
    std::size_t launched = 0;
    std::size_t missing = 0;
  };
  Kernels kernels(Instant from, Instant to) const;
  /// When what is launched at this instant or next begins.
  Instant begin(Instant cpu) const;
  /// When what was launched before this instant has ended.
  Instant end(Instant cpu) const;

  /// From one instant to another, without the times in which nothing but collectives ran.
  Duration computing(Instant from, Instant to) const;

  /// How much work of the stream began between these instants, and how much of it without a recorded launch.
  struct Began {
    std::size_t all = 0;
    std::size_t unlaunched = 0;
  };
  Began work(Instant from, Instant to) const;
  /// How much other streams worked, but for collectives: 1 is as much as this one.
  double elsewhere() const { return elsewhere_; }

 private:
  struct Launched {
    Instant at;     // on the CPU
    Instant begin;  // on the GPU
    Instant end;    // of this and all before
  };
  void follow_stream(const Recording& recording);
  void match_kernels(const Recording& recording);
  void expose(const std::vector<Span>& collectives, const std::vector<Span>& work);

  std::vector<Launched> launched_;
  double elsewhere_ = 0;
  std::vector<Instant> unlaunched_;  // when it began
  struct Kernel {
    Instant at;  // on the CPU
    bool recorded;
  };
  std::vector<Kernel> kernels_;
  std::vector<Span> exposed_;  // times in which only collectives ran, ordered and apart
};

}  // namespace weir::kineto
