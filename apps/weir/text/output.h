// What the program says, on the standard streams. A stream that cannot be written, as that of a pipe whose
// reader has left or of a full disk, stops nothing: work goes on, and main() tells of it at the end.
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

/// On the error stream, after all that was printed before.
template <class... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fflush(stdout);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

/// To be called last: the status, or 1 and a line on the error stream if what was printed is lost. A reader
/// that has left, as `head` does, has had enough, and that is no error.
ExitStatus flushed(ExitStatus status);

}  // namespace weir
