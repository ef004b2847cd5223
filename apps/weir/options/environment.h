// The environment of this process, which the command line alone reads.
#pragma once

#include <optional>
#include <string>

namespace weir {

/// A variable; none if it is not set.
std::optional<std::string> environment(const std::string& name);

}  // namespace weir
