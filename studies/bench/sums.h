// How fast the CPUs of this host sum gradients, beside what their memory allows.
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
  std::vector<int> sources;  // how many are added at once
  std::vector<int> threads;  // that share each sum; empty: one, and as many as there are CPUs
  int repetitions = 9;
  std::optional<int> numa;  // the node whose memory and CPUs are used; none: any
};

/// All that was measured, and on what.
struct MeasuredSums {
  std::vector<real::SumRate> rates;
  Bytes memory;
  Bytes huge;  // of the memory, in huge pages
};

/// What a caller may want to know meanwhile; each may be empty.
struct SumEvents {
  std::function<void(Bytes memory, Bytes huge)> begun;
  std::function<void(const real::SumRate& rate)> rate;
};

/// How many threads are measured: those of the settings. Fails if the host has no such NUMA node.
Result<std::vector<int>> threads_of(const SumSettings& settings);

/// Measures each type with each number of threads and of sources. The settings name some threads.
Result<MeasuredSums> measure_sums(const SumSettings& settings, const SumEvents& events = {});

}  // namespace weir
