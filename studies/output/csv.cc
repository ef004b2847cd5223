#include "studies/output/csv.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace weir {

using nlohmann::ordered_json;

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n#") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string cell(const ordered_json& row, std::string_view column) {
  const auto value = row.find(std::string(column));
  if (value == row.end()) return {};
  if (value->is_string()) return cell(value->get<std::string>());
  if (value->is_number_float()) return fmt::format("{:.6g}", value->get<double>());
  return value->dump();
}

}  // namespace weir
