// Bytes as text, two digits each.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// In small letters.
std::string hexadecimal(std::span<const std::byte> bytes);
/// None if the text has another character, or half a byte.
std::optional<std::vector<std::byte>> from_hexadecimal(std::string_view text);

}  // namespace weir
