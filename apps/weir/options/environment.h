// Environment variables of this process. Only the command line may read them.
#pragma once

#include <optional>
#include <string>

namespace weir {

/// The value of a variable; none if it is not set.
std::optional<std::string> environment(const std::string& name);

}  // namespace weir
