// Output on the standard streams. A stream may fail: the reader of a pipe leaves, or a disk is full. Work
// goes on then, and main() reports it at the end.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "apps/weir/text/exit_status.h"

namespace weir {

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Prints on the error stream, after everything that was printed before.
template <class... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fflush(stdout);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Call it last. Returns the status; or 1, with a line on the error stream, if output was lost. A reader that
/// leaves early, as `head` does, is no error.
ExitStatus flushed(ExitStatus status);

}  // namespace weir
