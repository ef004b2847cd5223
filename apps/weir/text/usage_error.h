// What is wrong with a command line, in the form of all other errors.
#pragma once

#include "apps/weir/text/exit_status.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace weir {

/// Prints the error on the error stream. It begins with the name of the command, and suggests the option or
/// the command that was probably meant. Call it after `weir` failed to parse the command line.
ExitStatus wrong_usage(const CLI::App& weir, const CLI::ParseError& error);

}  // namespace weir
