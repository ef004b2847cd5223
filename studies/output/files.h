// Writes files such that a reader finds either a whole file or none.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// Replaces the file by one that contains the text.
Result<void> write_text(const std::string& file, const std::string& text);

/// Fails if the file could not be written now. For callers that compute for long before they write. Changes
/// nothing.
Result<void> check_writable(const std::string& file);

/// Fails if the file is among the inputs, which it would overwrite.
Result<void> check_no_input(const std::string& file, const std::vector<std::string>& inputs);

/// The name of a file while it is being written, before it replaces the final one.
std::string unfinished(const std::string& file);

/// Replaces the file by one that only its owner can read.
Result<void> write_secret(const std::string& file, const std::string& text);

}  // namespace weir
