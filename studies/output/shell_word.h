// Words of commands that reports and errors print, for users to paste into a shell.
#pragma once

#include <string>

namespace weir {

/// The word as a shell reads it: in quotes where it has to be.
std::string shell_word(const std::string& word);

}  // namespace weir
