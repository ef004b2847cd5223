// The subcommands of weir. Each adds itself to the command line with its options and help. When it was
// chosen, it sets the program's exit status.
#pragma once

#include "apps/weir/text/exit_status.h"

namespace CLI {
class App;
}

namespace weir {

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
