// The exit statuses of the program.
#pragma once

namespace weir {

/// One of these, or 128 + n: ended by signal n.
using ExitStatus = int;
constexpr ExitStatus kExitWell = 0;
constexpr ExitStatus kExitFailed = 1;  // a run, a plan, or writing what came of it
constexpr ExitStatus kExitWrong = 2;   // the command line, or a file that it names

}  // namespace weir
