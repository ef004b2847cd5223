// Bytes as hexadecimal text, two digits each.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// In lower case.
std::string hexadecimal(std::span<const std::byte> bytes);
/// None if the text has other characters (capitals included) or an odd number of digits.
std::optional<std::vector<std::byte>> from_hexadecimal(std::string_view text);

}  // namespace weir
