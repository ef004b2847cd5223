// The exit statuses of the program.
#pragma once

namespace weir {

/// One of the values below, or 128 + n if signal n ended the program.
using ExitStatus = int;
constexpr ExitStatus kExitWell = 0;
constexpr ExitStatus kExitFailed = 1;  // a run or a plan failed, or its result could not be written
constexpr ExitStatus kExitWrong = 2;   // the command line, or a file that it names, is wrong

}  // namespace weir
