#include "core/document/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/check.h"

namespace weir {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestLabel = 200;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName || !is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

}  // namespace

bool is_spelt(std::string_view text, Spelling spelling) {
  switch (spelling) {
    case Spelling::kAny:
      return true;
    case Spelling::kName:
      return is_name(text);
    case Spelling::kLabel:
      return !text.empty() && text.size() <= kLongestLabel &&
             std::none_of(text.begin(), text.end(), is_control);
  }
  return false;
}

std::string misspelt(std::string_view text, Spelling spelling) {
  constexpr std::size_t kShown = 40;
  const std::string shown = on_one_line(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
  if (spelling == Spelling::kName) {
    return fmt::format("'{}' is not a name; try a letter and then letters, digits, '_' and '-', {} at most",
                       shown, kLongestName);
  }
  return fmt::format("'{}' is not a name; try 1 to {} bytes of text without control characters", shown,
                     kLongestLabel);
}

std::string pattern(Spelling spelling) {
  WEIR_CHECK(spelling != Spelling::kAny);
  if (spelling == Spelling::kName) return fmt::format("^[A-Za-z][A-Za-z0-9_-]{{0,{}}}$", kLongestName - 1);
  return fmt::format("^[^\\u0000-\\u001f\\u007f]{{1,{}}}$", kLongestLabel);
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_control, '?');
  if (std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return line;
  using nlohmann::json;
  const std::string valid = json(line).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(valid).get<std::string>();
}

}  // namespace weir
