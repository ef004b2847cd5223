// Where this program is. Installed programs have their companions beside it.
#pragma once

#include <filesystem>

namespace weir::real {

/// The file of this program; empty if /proc does not give it.
std::filesystem::path program_path();

}  // namespace weir::real
