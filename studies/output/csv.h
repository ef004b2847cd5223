// Cells of CSV files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weir {

/// The text, in quotes if it must be.
std::string cell(const std::string& text);

/// The object's value of that name; nothing if it has none. Fractions have six digits.
std::string cell(const nlohmann::ordered_json& row, std::string_view column);

}  // namespace weir
