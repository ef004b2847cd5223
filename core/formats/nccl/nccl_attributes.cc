#include "core/formats/nccl/nccl_attributes.h"

#include <fmt/format.h>

#include <charconv>

namespace weir::nccl {
namespace {

constexpr std::size_t kShown = 40;  // characters of a wrong text

std::string shown(std::string_view text) {
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

std::optional<std::int64_t> parsed(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  if (text.starts_with('-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace

std::string_view text_of(const XmlElement& element, std::string_view attribute) {
  const std::string* text = element.find(attribute);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::int64_t number_of(const XmlElement& element, std::string_view attribute, const Whole& whole,
                       Remarks& remarks) {
  const std::string_view text = text_of(element, attribute);
  if (text.empty()) return whole.otherwise;
  const auto value = parsed(text);
  if (value && *value >= whole.least && *value <= whole.most) return *value;
  remarks.wrong(element.line, fmt::format("<{} {}=\"{}\">: expected a whole number from {} to {}",
                                          element.name, attribute, shown(text), whole.least, whole.most));
  return whole.otherwise;
}

std::string plain_bus_id(std::string_view id) {
  std::string plain;
  for (const char c : id) {
    if (c == ':' || c == '.' || (c == '0' && plain.empty())) continue;
    plain += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

int broadcom_generation(const PciTexts& switch_port, SwitchHalf half) {
  const auto id = [](std::string_view text) { return plain_bus_id(text.substr(0, 6)); };
  if (id(switch_port.vendor) != "x1000" || id(switch_port.subsystem_vendor) != "x1000") return 0;
  const std::string device = id(switch_port.device);
  const std::string_view sub = switch_port.subsystem_device;  // "0xa096": only the first digit matters
  if (sub.size() != 6) return 0;
  if (device == "xc010" && sub[2] == 'a') return 4;
  if (device == "xc030" && sub[2] == (half == SwitchHalf::kUpper ? '0' : '1')) return 5;
  return 0;
}

}  // namespace weir::nccl
