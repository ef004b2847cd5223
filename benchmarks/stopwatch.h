// The cost of a part of a program.
#pragma once

#include <sys/resource.h>

#include <ctime>

#include "core/base/units.h"

namespace weir::benchmarks {

/// CPU time of this process since the stopwatch was made; other processes do not disturb it.
class Stopwatch {
 public:
  double seconds() const { return used() - begin_; }

 private:
  static double used() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  double begin_ = used();
};

/// The peak memory of this process so far.
inline Bytes peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(usage.ru_maxrss * 1024);
}

}  // namespace weir::benchmarks
