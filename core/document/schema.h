// Writes the JSON Schema of a struct from its fields (fields.h), for editors and other programs.
#pragma once

#include "core/document/write_fields.h"

namespace weir {

/// The visitor that describes one object.
class SchemaWriter {
 public:
  template <class T>
  void required(std::string_view name, T& field, std::string_view about, const Limits& range = {}) {
    property<T>(name, about, range);
    required_.push_back(name);
    (void)field;
  }

  template <class T>
  void optional(std::string_view name, T& field, std::string_view about, const Limits& range = {}) {
    nlohmann::ordered_json& schema = property<T>(name, about, range);
    if constexpr (Optional<T>) {
      if (!field) return;
    }
    schema["default"] = Writer::written(field);
  }

  /// The schema of a field of this type.
  template <class T>
  static nlohmann::ordered_json schema(const Limits& range = {});

 private:
  template <class T>
  static nlohmann::ordered_json container_schema(const Limits& range);
  template <class T>
  static nlohmann::ordered_json struct_schema(const Limits& range);

  template <class T>
  nlohmann::ordered_json& property(std::string_view name, std::string_view about, const Limits& range) {
    nlohmann::ordered_json& property = properties_[std::string(name)];
    property = {{"description", about}};
    property.update(schema<T>(range));
    return property;
  }

  nlohmann::ordered_json properties_ = nlohmann::ordered_json::object();
  std::vector<std::string_view> required_;
};

/// The schema of a file that contains the struct, as text.
template <class T>
std::string schema_text(std::string_view title) {
  nlohmann::ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                   {"title", title}};
  schema.update(SchemaWriter::schema<T>());
  schema["properties"]["$schema"] = {{"description", "where editors find this schema"}, {"type", "string"}};
  return schema.dump(2) + "\n";
}

template <class T>
nlohmann::ordered_json SchemaWriter::schema(const Limits& range) {
  if constexpr (std::same_as<T, Value>) {
    return nlohmann::ordered_json::object();
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    nlohmann::ordered_json number = {{"type", Integer<T> ? "integer" : "number"}};
    if (range.least) number["minimum"] = static_cast<T>(*range.least);
    if (range.most) number["maximum"] = static_cast<T>(*range.most);
    return number;
  } else if constexpr (std::same_as<T, std::string>) {
    nlohmann::ordered_json text = {{"type", "string"}};
    if (range.spelling != Spelling::kAny) text["pattern"] = pattern(range.spelling);
    return text;
  } else if constexpr (HasUnit<T>) {
    return {{"type", "string"}, {"pattern", UnitText<T>::pattern()}};
  } else if constexpr (NamedEnum<T>) {
    auto names = nlohmann::ordered_json::array();
    for (const auto& named : enum_names(T{})) names.push_back(named.name);
    return {{"enum", names}};
  } else if constexpr (Vector<T> || Optional<T> || Map<T>) {
    return container_schema<T>(range);
  } else {
    return struct_schema<T>(range);
  }
}

template <class T>
nlohmann::ordered_json SchemaWriter::container_schema(const Limits& range) {
  if constexpr (Optional<T>) {
    auto either = nlohmann::ordered_json::array();
    either.push_back(schema<typename T::value_type>(range));
    either.push_back({{"type", "null"}});
    return {{"anyOf", either}};
  } else if constexpr (Map<T>) {
    return {{"type", "object"}, {"additionalProperties", schema<typename T::mapped_type>(range)}};
  } else {
    return {{"type", "array"}, {"items", schema<typename T::value_type>(range)}};
  }
}

template <class T>
nlohmann::ordered_json SchemaWriter::struct_schema(const Limits& range) {
  SchemaWriter writer;
  T defaults{};
  fields(writer, defaults);
  nlohmann::ordered_json object = {{"type", "object"}, {"properties", std::move(writer.properties_)}};
  if (!writer.required_.empty()) object["required"] = writer.required_;
  object["additionalProperties"] = false;
  if constexpr (HasShorthand<T>) {
    auto either = nlohmann::ordered_json::array();
    either.push_back(schema<typename Shorthand<T>::Short>(range));
    either.push_back(std::move(object));
    return {{"anyOf", either}};
  }
  return object;
}

}  // namespace weir
