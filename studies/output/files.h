// Writing files so that a reader finds a whole one or none.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// Replaces the file by one that holds the text.
Result<void> write_text(const std::string& file, const std::string& text);

/// Fails if it could not be written now: for who works long before it is. Leaves everything as it is.
Result<void> check_writable(const std::string& file);

/// Fails if the file is one of those that are read: an output would take its place.
Result<void> check_no_input(const std::string& file, const std::vector<std::string>& inputs);

/// The name under which a file is written before it takes its own.
std::string unfinished(const std::string& file);

/// Replaces the file by one that nobody but its owner can read.
Result<void> write_secret(const std::string& file, const std::string& text);

}  // namespace weir
