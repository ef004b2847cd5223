// How failed commands end: lines on the error stream, and an exit status.
#pragma once

#include <span>
#include <string_view>

#include "apps/weir/text/exit_status.h"
#include "core/base/result.h"
#include "studies/output/study_error.h"

namespace weir {

/// The status. An error is printed on the error stream and gives kExitFailed.
ExitStatus exit_status(const char* command, const Result<ExitStatus>& result);

/// The same for a study; kExitWrong if its input is wrong.
ExitStatus exit_status(const char* command, const Studied<ExitStatus>& result);

/// The name of a study's setting, and the option that sets it.
struct SettingOption {
  std::string_view setting;
  std::string_view option;
};

/// The error with options in place of the settings that its lines begin with: "over: ..." becomes "--over:
/// ...".
Error with_options(const Error& error, std::span<const SettingOption> options);

/// Prints an error in the input: each line begins with the command's name.
ExitStatus wrong(const char* command, const Error& error);

}  // namespace weir
