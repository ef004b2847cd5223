// A job that benchmarks run: gradients that are ready at once, and machines that are processes of this host.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "studies/real/real_world.h"

namespace weir {

struct BenchJob {
  std::string strategy;
  int workers = 4;
  int servers = 0;      // machines that only sum
  Bytes gradients;      // of each worker, f32
  Bytes part;           // at most, that is sent as one message
  int warm_up = 1;      // iterations before those that count
  int iterations = 10;  // that count
  RealSettings real;
};

/// What a job of processes came to.
struct BenchTimes {
  std::vector<Duration> iterations;  // from the end of the one before, on all machines, to its own
  Bytes moved;                       // in an iteration, by all messages
  Bytes most;                        // of these, into or out of the machine that has most
  std::string settings;              // of the run, as they came out
};

/// Runs it as weir run --on local does.
Result<BenchTimes> run(const BenchJob& job);

}  // namespace weir
