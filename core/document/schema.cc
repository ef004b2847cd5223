#include "core/document/schema.h"

#include <utility>

namespace weir {

using Json = nlohmann::ordered_json;

void SchemaWriter::property(std::string_view name, std::string_view about, Json schema) {
  Json& property = properties_[std::string(name)];
  property = {{"description", about}};
  property.update(schema);
}

void SchemaWriter::add_default(std::string_view name, Json value) {
  properties_[std::string(name)]["default"] = std::move(value);
}

Json SchemaWriter::finish() {
  Json object = {{"type", "object"}, {"properties", std::move(properties_)}};
  if (!required_.empty()) object["required"] = required_;
  object["additionalProperties"] = false;
  return object;
}

namespace internal {

std::string whole_schema_text(std::string_view title, const Json& schema) {
  Json whole = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  whole.update(schema);
  whole["properties"]["$schema"] = {{"description", "where editors find this schema"}, {"type", "string"}};
  return whole.dump(2) + "\n";
}

Json type_schema(std::string_view type) { return {{"type", type}}; }

Json number_schema(const Limits& range, bool integer) {
  Json number = type_schema(integer ? "integer" : "number");
  const auto shown = [integer](double bound) {
    return integer ? Json(static_cast<std::int64_t>(bound)) : Json(bound);
  };
  if (range.least) number["minimum"] = shown(*range.least);
  if (range.most) number["maximum"] = shown(*range.most);
  return number;
}

Json pattern_schema(std::string pattern) {
  Json text = type_schema("string");
  if (!pattern.empty()) text["pattern"] = std::move(pattern);
  return text;
}

Json names_schema(const std::vector<std::string_view>& names) { return {{"enum", names}}; }

Json either_schema(Json one, Json other) {
  auto either = Json::array();
  either.push_back(std::move(one));
  either.push_back(std::move(other));
  return {{"anyOf", std::move(either)}};
}

Json map_schema(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }

Json array_schema(Json elements) { return {{"type", "array"}, {"items", std::move(elements)}}; }

}  // namespace internal
}  // namespace weir
