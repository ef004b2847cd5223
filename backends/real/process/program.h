// Where this program lies, beside which an installed one has what it brings along.
#pragma once

#include <filesystem>

namespace weir::real {

/// The file of this program; empty where /proc does not tell it.
std::filesystem::path program_path();

}  // namespace weir::real
