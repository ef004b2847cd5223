// What benchmarks measured: how long one thing of one size took. bench_points.h reads points from files,
// point_fit.h turns points into values.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/units.h"
#include "core/formats/nccl/nccl_tests.h"

namespace weir {

struct Point {
  enum class Kind {
    kSum,         // a NUMA node's cores add one buffer to another
    kMemory,      // reads and writes the same bytes, with almost no computation
    kCopy,        // between a GPU and host memory, both ways at once
    kMessage,     // between machines, one after another, both ways at once
    kExchange,    // one lone message from GPU to GPU through NICs: sendrecv_perf
    kCollective,  // among GPUs of one machine or of several
  };
  Kind kind = Kind::kSum;
  std::string source;  // the file
  std::string group;   // of the topology; empty: every group that has such a part
  Bytes size;          // of one operand, copy, message or call
  double seconds = 0;
  Dtype dtype = Dtype::kF32;                 // of sums
  bool one_thread = false;                   // of sums: one thread, though others were measured too
  std::optional<int> numa;                   // of sums and memory: the NUMA node; none: all together
  int device = 0;                            // of copies: the GPU
  nccl::Test test = nccl::Test::kAllReduce;  // of collectives
  int ranks = 0;
  int hosts = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

}  // namespace weir
