// Writes a struct as JSON by its fields (fields.h). Fields with default values are written too, so that the
// text is the complete configuration in effect. Empty optionals are left out.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/document/fields.h"

namespace weir {

/// The visitor that writes one object.
class Writer {
 public:
  template <class T>
  void required(std::string_view name, T& from, std::string_view about, const Limits& range = {}) {
    optional(name, from, about, range);
  }

  template <class T>
  void optional(std::string_view name, T& from, std::string_view /*about*/, const Limits& /*range*/ = {}) {
    if constexpr (Optional<T>) {
      if (!from) return;
    }
    put(name, written(from));
  }

  /// The field as JSON.
  template <class T>
  static nlohmann::ordered_json written(T& from);

 private:
  template <class T>
  static nlohmann::ordered_json written_container(T& from);
  template <class T>
  static nlohmann::ordered_json written_struct(T& from);

  void put(std::string_view name, nlohmann::ordered_json value);

  nlohmann::ordered_json object_ = nlohmann::ordered_json::object();
};

/// The struct as JSON.
template <class T>
nlohmann::ordered_json write_fields(T from) {
  return Writer::written(from);
}

template <class T>
nlohmann::ordered_json Writer::written(T& from) {
  if constexpr (std::same_as<T, Value>) {
    return json(from);
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return from;
  } else if constexpr (HasUnit<T>) {
    return text(from);
  } else if constexpr (NamedEnum<T>) {
    return std::string(enum_name(from));
  } else if constexpr (Vector<T> || Optional<T> || Map<T>) {
    return written_container(from);
  } else {
    return written_struct(from);
  }
}

template <class T>
nlohmann::ordered_json Writer::written_container(T& from) {
  if constexpr (Optional<T>) {
    return from ? written(*from) : nlohmann::ordered_json(nullptr);
  } else if constexpr (Map<T>) {
    auto object = nlohmann::ordered_json::object();
    for (auto& [key, value] : from) object[key] = written(value);
    return object;
  } else {
    auto array = nlohmann::ordered_json::array();
    for (auto&& element : from) array.push_back(written(element));
    return array;
  }
}

template <class T>
nlohmann::ordered_json Writer::written_struct(T& from) {
  if constexpr (HasShorthand<T>) {
    if (auto simple = Shorthand<T>::of(from)) return written(*simple);
  }
  Writer writer;
  fields(writer, from);
  return std::move(writer.object_);
}

}  // namespace weir
