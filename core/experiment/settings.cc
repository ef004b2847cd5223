#include "core/experiment/settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace weir {

std::string label(const Value& value) {
  return value.is(Value::Kind::kString) ? value.as_string() : json(value).dump();
}

Result<Setting> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return failure(fmt::format("'{}' sets nothing; try partition_size=4MB", text));
  }
  Setting setting;
  setting.path = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  const auto document = parse_document(value, "");
  if (document) {
    setting.value = *document;
  } else {
    setting.value = Value(std::string(value));
  }
  setting.value.place(nullptr, 0);
  setting.text = label(setting.value);
  return setting;
}

std::string label(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.path, setting.text);
  }
  return text;
}

}  // namespace weir
