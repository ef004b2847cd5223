// Writes the JSON Schema of a struct from its fields (fields.h), for editors and other programs.
#pragma once

#include "core/document/write_fields.h"

namespace weir {

/// The visitor that describes one object.
class SchemaWriter {
 public:
  template <class T>
  void required(std::string_view name, T& field, std::string_view about, const Limits& range = {}) {
    property(name, about, schema<T>(range));
    required_.push_back(name);
    (void)field;
  }

  template <class T>
  void optional(std::string_view name, T& field, std::string_view about, const Limits& range = {}) {
    property(name, about, schema<T>(range));
    if constexpr (Optional<T>) {
      if (!field) return;
    }
    add_default(name, Writer::written(field));
  }

  /// The schema of a field of this type.
  template <class T>
  static nlohmann::ordered_json schema(const Limits& range = {});

 private:
  template <class T>
  static nlohmann::ordered_json container_schema(const Limits& range);
  template <class T>
  static nlohmann::ordered_json struct_schema(const Limits& range);

  void property(std::string_view name, std::string_view about, nlohmann::ordered_json schema);
  void add_default(std::string_view name, nlohmann::ordered_json value);
  nlohmann::ordered_json finish();  // the schema of the object; leaves the writer empty

  nlohmann::ordered_json properties_ = nlohmann::ordered_json::object();
  std::vector<std::string_view> required_;
};

// JSON that many types share is made here once, since code made from templates takes long to compile.
namespace internal {

std::string whole_schema_text(std::string_view title, const nlohmann::ordered_json& schema);
nlohmann::ordered_json type_schema(std::string_view type);
nlohmann::ordered_json number_schema(const Limits& range, bool integer);
nlohmann::ordered_json pattern_schema(std::string pattern);  // any text if it is empty
nlohmann::ordered_json names_schema(const std::vector<std::string_view>& names);
nlohmann::ordered_json either_schema(nlohmann::ordered_json one, nlohmann::ordered_json other);
nlohmann::ordered_json map_schema(nlohmann::ordered_json values);
nlohmann::ordered_json array_schema(nlohmann::ordered_json elements);

}  // namespace internal

/// The schema of a file that contains the struct, as text.
template <class T>
std::string schema_text(std::string_view title) {
  return internal::whole_schema_text(title, SchemaWriter::schema<T>());
}

template <class T>
nlohmann::ordered_json SchemaWriter::schema(const Limits& range) {
  if constexpr (std::same_as<T, Value>) {
    return nlohmann::ordered_json::object();
  } else if constexpr (std::same_as<T, bool>) {
    return internal::type_schema("boolean");
  } else if constexpr (std::is_arithmetic_v<T>) {
    return internal::number_schema(range, Integer<T>);
  } else if constexpr (std::same_as<T, std::string>) {
    return internal::pattern_schema(range.spelling == Spelling::kAny ? "" : pattern(range.spelling));
  } else if constexpr (HasUnit<T>) {
    return internal::pattern_schema(UnitText<T>::pattern());
  } else if constexpr (NamedEnum<T>) {
    std::vector<std::string_view> names;
    for (const auto& named : enum_names(T{})) names.push_back(named.name);
    return internal::names_schema(names);
  } else if constexpr (Vector<T> || Optional<T> || Map<T>) {
    return container_schema<T>(range);
  } else {
    return struct_schema<T>(range);
  }
}

template <class T>
nlohmann::ordered_json SchemaWriter::container_schema(const Limits& range) {
  if constexpr (Optional<T>) {
    return internal::either_schema(schema<typename T::value_type>(range), internal::type_schema("null"));
  } else if constexpr (Map<T>) {
    return internal::map_schema(schema<typename T::mapped_type>(range));
  } else {
    return internal::array_schema(schema<typename T::value_type>(range));
  }
}

template <class T>
nlohmann::ordered_json SchemaWriter::struct_schema(const Limits& range) {
  SchemaWriter writer;
  T defaults{};
  fields(writer, defaults);
  nlohmann::ordered_json object = writer.finish();
  if constexpr (HasShorthand<T>) {
    return internal::either_schema(schema<typename Shorthand<T>::Short>(range), std::move(object));
  }
  return object;
}

}  // namespace weir
