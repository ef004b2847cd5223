// The subcommands of weir. Each adds itself to the command line with its options and its help, and when
// chosen leaves the program's exit status.
#pragma once

#include <CLI/CLI.hpp>

namespace weir {

/// 0: all is well; 1: some input is wrong or some run failed; 128 + n: ended by signal n. (CLI11 has its own
/// for mistakes on the command line, from 100 on.)
using ExitStatus = int;

void add_run(CLI::App& weir, ExitStatus& status);
void add_plan(CLI::App& weir, ExitStatus& status);
void add_bound(CLI::App& weir, ExitStatus& status);
void add_check(CLI::App& weir, ExitStatus& status);
void add_import(CLI::App& weir, ExitStatus& status);
void add_export(CLI::App& weir, ExitStatus& status);

}  // namespace weir
