// The version of this program, which names every result.
#pragma once

#include <string_view>

namespace weir {

/// "0.1.0", and if the program was built from a checkout the revision too: "0.1.0+g3a4c03f8d1e2", or
/// "0.1.0+g3a4c03f8d1e2-dirty" if files had been changed when it was configured.
std::string_view version();

}  // namespace weir
