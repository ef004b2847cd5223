// What nccl-tests (https://github.com/NVIDIA/nccl-tests) print: the times of a collective among GPUs, by
// size. Its tables are read, and the JSON that its -J writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/document/document.h"

namespace weir::nccl {

enum class Test { kAllReduce, kReduceScatter, kAllGather, kReduce, kBroadcast, kSendReceive };

struct Time {
  Bytes size;      // as nccl-tests count it
  double seconds;  // of one call
};

struct Tested {
  Test test = Test::kAllReduce;
  int ranks = 0;            // GPUs
  int hosts = 0;            // that they are in
  std::vector<Time> times;  // out of place and in place, as they stand
};

/// What all ranks' busiest links carry of a call's bytes: "bus bandwidth" is their rate.
double bus_factor(Test test, int ranks);

/// What a GPU passes to the next at once of a call of that size, in a ring: its share where all have one,
/// else all of it.
Bytes passed_at_once(Test test, int ranks, Bytes size);

/// Whether the text looks like a table of nccl-tests.
bool is_nccl_tests(std::string_view text);
/// The table. Tests that print no name of theirs are known by the ratio of their two bandwidths.
Result<Tested> read_nccl_tests(const std::string& text, const std::string& file);

bool is_nccl_tests(const Value& document);
Result<Tested> read_nccl_tests(const Value& document);

}  // namespace weir::nccl
