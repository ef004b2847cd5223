#include "apps/weir/text/errors.h"

#include <sstream>

#include "apps/weir/text/output.h"

namespace weir {

ExitStatus exit_status(const char* command, const Result<ExitStatus>& result) {
  if (result) return *result;
  print_error("weir {}: {}\n", command, result.error().text);
  return kExitFailed;
}

ExitStatus exit_status(const char* command, const Studied<ExitStatus>& result) {
  if (result) return *result;
  const StudyError& error = result.error();
  if (error.cause == StudyError::Cause::kInput) return wrong(command, Error{error.text});
  return exit_status(command, Result<ExitStatus>(failure(error.text)));
}

Error with_options(const Error& error, std::span<const SettingOption> options) {
  Error named;
  std::istringstream lines(error.text);
  for (std::string line; std::getline(lines, line);) {
    const std::string setting = line.substr(0, line.find_first_of(": "));
    for (const SettingOption& one : options) {
      if (setting != one.setting || setting == line) continue;
      line.replace(0, setting.size(), one.option);
      break;
    }
    named.text += (named.text.empty() ? "" : "\n") + line;
  }
  return named;
}

ExitStatus wrong(const char* command, const Error& error) {
  std::istringstream lines(error.text);
  for (std::string line; std::getline(lines, line);) print_error("weir {}: {}\n", command, line);
  return kExitWrong;
}

}  // namespace weir
