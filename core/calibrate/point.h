// What benchmarks measured: how long something of one size took. Readers make points of files
// (bench_points.h), point_fit.h makes values of points.
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
    kMemory,      // the same bytes are read and written with next to nothing computed
    kCopy,        // between a GPU and host memory, both ways at once
    kMessage,     // from machine to machine, one after the other, both ways at once
    kExchange,    // one message from GPU to GPU through NICs, alone: sendrecv_perf
    kCollective,  // among GPUs of one machine or of several
  };
  Kind kind = Kind::kSum;
  std::string source;  // the file
  std::string group;   // of the topology; empty for all that have such a thing
  Bytes size;          // of one operand, copy, message or call
  double seconds = 0;
  Dtype dtype = Dtype::kF32;                 // of sums
  bool one_thread = false;                   // of sums: one of several threads alone
  std::optional<int> numa;                   // of sums and memory: its number; none if of all together
  int device = 0;                            // of copies: the GPU
  nccl::Test test = nccl::Test::kAllReduce;  // of collectives
  int ranks = 0;
  int hosts = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

}  // namespace weir
