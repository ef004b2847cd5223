#include "apps/weir/bench/bench.h"

#include <CLI/CLI.hpp>
namespace weir {

void add_bench(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("bench", "Measures how fast this machine is");
  command->require_subcommand(1);
  add_bench_allreduce(*command, status);
  add_bench_copy(*command, status);
  add_bench_pushpull(*command, status);
  add_bench_sum(*command, status);
  add_bench_transport(*command, status);
}

}  // namespace weir
