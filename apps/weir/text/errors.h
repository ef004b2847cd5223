// How commands end whose work failed: lines on the error stream, and a status.
#pragma once

#include "apps/weir/text/exit_status.h"
#include "core/base/result.h"
#include "studies/output/study_error.h"

namespace weir {

/// The status, or the error told on the error stream and kExitFailed.
ExitStatus exit_status(const char* command, const Result<ExitStatus>& result);

/// The same of a study: 2 if its input is wrong.
ExitStatus exit_status(const char* command, const Studied<ExitStatus>& result);

/// Tells the error, which is one of the input: each of its lines after the command's name.
ExitStatus wrong(const char* command, const Error& error);

}  // namespace weir
