// A job for benchmarks: its gradients are ready at once, and its machines are processes of this host.
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
  Bytes part;           // largest part that is sent as one message
  int warm_up = 1;      // iterations before the counted ones
  int iterations = 10;  // counted iterations
  RealSettings real;
};

/// The result of such a job.
struct BenchTimes {
  std::vector<Duration> iterations;  // each from the end of the previous one to its own, on all machines
  Bytes moved;                       // in an iteration, by all messages
  Bytes most;                        // into or out of the machine with the most
  std::string settings;              // of the run, as they took effect
};

/// Runs the job as weir run --on local does.
Result<BenchTimes> run(const BenchJob& job);

}  // namespace weir
