// How fast the CPUs of this host sum gradients, compared with what their memory allows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/meters/sum_meter.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir {

struct SumSettings {
  Bytes size;  // of each operand
  std::vector<Dtype> dtypes;
  std::vector<int> sources;  // how many operands are added at once
  std::vector<int> threads;  // that share each sum; empty: 1, and the number of CPUs
  int repetitions = 9;
  std::optional<int> numa;  // the node whose memory and CPUs are used; none: any
};

/// The results, and the memory that they were measured on.
struct MeasuredSums {
  std::vector<real::SumRate> rates;
  Bytes memory;
  Bytes huge;  // the part of the memory in huge pages
};

/// Progress for callers; each function may be empty.
struct SumEvents {
  std::function<void(Bytes memory, Bytes huge)> begun;
  std::function<void(const real::SumRate& rate)> rate;
};

/// The numbers of threads to measure, from the settings. Fails if the host has no such NUMA node.
Result<std::vector<int>> threads_of(const SumSettings& settings);

/// Measures each type with each number of threads and sources. The settings must list numbers of threads.
Result<MeasuredSums> measure_sums(const SumSettings& settings, const SumEvents& events = {});

}  // namespace weir
