// The benchmarks of `weir bench`. Each adds itself to that command with its options and help.
#pragma once

#include "apps/weir/commands.h"

namespace weir {

void add_bench_allreduce(CLI::App& bench, ExitStatus& status);
void add_bench_copy(CLI::App& bench, ExitStatus& status);
void add_bench_pushpull(CLI::App& bench, ExitStatus& status);
void add_bench_sum(CLI::App& bench, ExitStatus& status);
void add_bench_transport(CLI::App& bench, ExitStatus& status);

}  // namespace weir
