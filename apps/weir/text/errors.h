// How failed commands end: lines on the error stream, and an exit status.
#pragma once

#include "apps/weir/text/exit_status.h"
#include "core/base/result.h"
#include "studies/output/study_error.h"

namespace weir {

/// The status. An error is printed on the error stream and gives kExitFailed.
ExitStatus exit_status(const char* command, const Result<ExitStatus>& result);

/// The same for a study; kExitWrong if its input is wrong.
ExitStatus exit_status(const char* command, const Studied<ExitStatus>& result);

/// Prints an error in the input: each line begins with the command's name.
ExitStatus wrong(const char* command, const Error& error);

}  // namespace weir
