// Words of shell commands in reports and errors, which users can paste into a shell.
#pragma once

#include <string>

namespace weir {

/// The word in the form that a shell reads: quoted if necessary.
std::string shell_word(const std::string& word);

}  // namespace weir
