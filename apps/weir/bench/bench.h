// The benchmarks of `weir bench`. Each adds itself below that command with its options and its help.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/weir/commands.h"

namespace weir {

/// The middle one of what was measured, of which there is some.
template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_bench_allreduce(CLI::App& bench, ExitStatus& status);
void add_bench_copy(CLI::App& bench, ExitStatus& status);
void add_bench_pushpull(CLI::App& bench, ExitStatus& status);
void add_bench_sum(CLI::App& bench, ExitStatus& status);
void add_bench_transport(CLI::App& bench, ExitStatus& status);

}  // namespace weir
