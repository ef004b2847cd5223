// The version of this program, which every result names.
#pragma once

#include <string_view>

namespace weir {

/// "0.1.0"; with the revision if the program was built from a checkout: "0.1.0+g3a4c03f8d1e2". It ends in
/// "-dirty" if files had been changed when CMake configured the build.
std::string_view version();

}  // namespace weir
