// Cells of CSV files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weir {

/// The text, quoted if necessary.
std::string cell(const std::string& text);

/// The object's value of this name; empty if it has none. Fractions have six digits.
std::string cell(const nlohmann::ordered_json& row, std::string_view column);

}  // namespace weir
