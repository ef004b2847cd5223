// The subcommands of weir. Each adds itself to the command line with its options and its help, and when
// chosen leaves the program's exit status.
#pragma once

#include <CLI/CLI.hpp>

namespace weir {

/// One of these, or 128 + n: ended by signal n.
using ExitStatus = int;
constexpr ExitStatus kExitWell = 0;
constexpr ExitStatus kExitFailed = 1;  // a run, a plan, or writing what came of it
constexpr ExitStatus kExitWrong = 2;   // the command line, or a file that it names

void add_run(CLI::App& weir, ExitStatus& status);
void add_launch(CLI::App& weir, ExitStatus& status);
void add_sweep(CLI::App& weir, ExitStatus& status);
void add_report(CLI::App& weir, ExitStatus& status);
void add_plan(CLI::App& weir, ExitStatus& status);
void add_bound(CLI::App& weir, ExitStatus& status);
void add_calibrate(CLI::App& weir, ExitStatus& status);
void add_whatif(CLI::App& weir, ExitStatus& status);
void add_tune(CLI::App& weir, ExitStatus& status);
void add_compare(CLI::App& weir, ExitStatus& status);
void add_check(CLI::App& weir, ExitStatus& status);
void add_node(CLI::App& weir, ExitStatus& status);
void add_discover(CLI::App& weir, ExitStatus& status);
void add_doctor(CLI::App& weir, ExitStatus& status);
void add_import(CLI::App& weir, ExitStatus& status);
void add_export(CLI::App& weir, ExitStatus& status);
void add_bench(CLI::App& weir, ExitStatus& status);
void add_trace(CLI::App& weir, ExitStatus& status);
void add_lab(CLI::App& weir, ExitStatus& status);

}  // namespace weir
