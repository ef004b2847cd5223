// Reads the output of nccl-tests (https://github.com/NVIDIA/nccl-tests): the times of a collective among
// GPUs, by size. It reads the printed tables and the JSON of option -J.
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
  int hosts = 0;            // of these GPUs
  std::vector<Time> times;  // out of place and in place, in the order of the output
};

/// How many bytes the busiest links carry for each byte of a call. "Bus bandwidth" is the rate of these
/// links.
double bus_factor(Test test, int ranks);

/// How many bytes a GPU passes to the next at once, in a ring and for a call of this size: its share if every
/// GPU has one, otherwise all bytes.
Bytes passed_at_once(Test test, int ranks, Bytes size);

/// Whether the text looks like a table of nccl-tests.
bool is_nccl_tests(std::string_view text);
/// Reads the table. A test that does not print its name is recognized by the ratio of its two bandwidths.
Result<Tested> read_nccl_tests(const std::string& text, const std::string& file);

bool is_nccl_tests(const Value& document);
Result<Tested> read_nccl_tests(const Value& document);

}  // namespace weir::nccl
