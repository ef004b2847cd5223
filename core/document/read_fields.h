// Reads a struct from a document by its fields (fields.h). It reports wrong kinds and units, missing keys and
// unknown keys. Each error has file, line and path, and says what would be right.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/nearest.h"
#include "core/document/complaints.h"
#include "core/document/fields.h"

namespace weir {

/// The visitor that reads one object.
class Reader {
 public:
  /// `path` is the path of the object.
  Reader(const Value& object, std::string path, Complaints& complaints);

  template <class T>
  void required(std::string_view name, T& into, std::string_view about, const Limits& range = {}) {
    if (const Value* value = take(name)) {
      read(*value, joined(path_, name), into, range);
    } else {
      missing(name, about);
    }
  }

  template <class T>
  void optional(std::string_view name, T& into, std::string_view /*about*/, const Limits& range = {}) {
    if (const Value* value = take(name)) read(*value, joined(path_, name), into, range);
  }

  /// Call this after the last field: it complains about keys that are no fields.
  void finish() const;

 private:
  const Value* take(std::string_view name);
  void missing(std::string_view name, std::string_view about) const;
  void unexpected(const Value& value, std::string_view path, std::string_view expected) const;
  /// Complains if the number is out of range. Returns whether it is within.
  bool check_range(const Value& value, std::string_view path, double number, const Limits& range) const;
  /// Complains if the value is no integer, or out of range. Returns whether all is well.
  bool is_integer(const Value& value, std::string_view path, const Limits& range) const;
  bool is(const Value& value, Value::Kind kind, std::string_view path, std::string_view expected) const;

  template <class T>
  void read(const Value& value, const std::string& path, T& into, const Limits& range);
  template <class T>
  void read_number(const Value& value, const std::string& path, T& into, const Limits& range);
  template <class T>
  void read_text(const Value& value, const std::string& path, T& into, const Limits& range);
  template <class T>
  void read_quantity(const Value& value, const std::string& path, T& into, const Limits& range);
  template <class T>
  void read_container(const Value& value, const std::string& path, T& into, const Limits& range);
  template <class T>
  void read_struct(const Value& value, const std::string& path, T& into, const Limits& range);

  const Value& object_;
  std::string path_;
  Complaints& complaints_;
  std::vector<std::string> known_;
};

/// Reads the struct from the object. `path` is the place of the object in its document; complaints put it in
/// front of their paths.
template <class T>
Result<T> read_fields(const Value& object, const std::string& path = "") {
  Complaints complaints;
  T into;
  if (object.is(Value::Kind::kObject)) {
    Reader reader(object, path, complaints);
    fields(reader, into);
    reader.finish();
  } else {
    complaints.add(object, path, "expected an object, not " + description(object));
  }
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  return into;
}

template <class T>
void Reader::read(const Value& value, const std::string& path, T& into, const Limits& range) {
  if constexpr (std::same_as<T, Value>) {
    into = value;
  } else if constexpr (std::same_as<T, bool>) {
    if (is(value, Value::Kind::kBool, path, "true or false")) into = value.as_bool();
  } else if constexpr (Integer<T> || std::same_as<T, double>) {
    read_number(value, path, into, range);
  } else if constexpr (std::same_as<T, std::string> || HasUnit<T> || NamedEnum<T>) {
    read_text(value, path, into, range);
  } else if constexpr (Vector<T> || Optional<T> || Map<T>) {
    read_container(value, path, into, range);
  } else {
    read_struct(value, path, into, range);
  }
}

template <class T>
void Reader::read_number(const Value& value, const std::string& path, T& into, const Limits& range) {
  if constexpr (Integer<T>) {
    // A stated range lies within that of the type.
    const Limits limits = {.least = range.least.value_or(static_cast<double>(std::numeric_limits<T>::min())),
                           .most = range.most.value_or(static_cast<double>(std::numeric_limits<T>::max()))};
    if (is_integer(value, path, limits)) into = static_cast<T>(value.as_integer());
  } else {
    if (!value.is(Value::Kind::kInteger) && !is(value, Value::Kind::kDouble, path, "a number")) return;
    into = value.as_double();
    check_range(value, path, into, range);
  }
}

template <class T>
void Reader::read_text(const Value& value, const std::string& path, T& into, const Limits& range) {
  if constexpr (std::same_as<T, std::string>) {
    if (!is(value, Value::Kind::kString, path, "a string")) return;
    into = value.as_string();
    if (!is_spelt(into, range.spelling)) complaints_.add(value, path, misspelt(into, range.spelling));
  } else if constexpr (HasUnit<T>) {
    if (is(value, Value::Kind::kString, path, UnitText<T>::kExpected)) {
      read_quantity(value, path, into, range);
    }
  } else {
    std::vector<std::string> names;
    for (const auto& named : enum_names(T{})) {
      if (value.is(Value::Kind::kString) && named.name == value.as_string()) {
        into = named.value;
        return;
      }
      names.emplace_back(named.name);
    }
    unexpected(value, path, "one of " + quoted(names));
  }
}

template <class T>
void Reader::read_quantity(const Value& value, const std::string& path, T& into, const Limits& range) {
  const Result<T> parsed = UnitText<T>::parse(value.as_string());
  if (!parsed) return complaints_.add(value, path, parsed.error().text);
  into = *parsed;
  if constexpr (std::same_as<T, BytesPerSecond>) {
    if (!into.limited()) return;
  }
  const auto number = static_cast<double>(UnitText<T>::count(into));
  const double least = std::max(range.least.value_or(0), UnitText<T>::kLimits.least.value_or(0));
  const double most = std::min(range.most.value_or(*UnitText<T>::kLimits.most), *UnitText<T>::kLimits.most);
  const auto shown = [](double bound) { return text(T(static_cast<std::int64_t>(bound))); };
  if (number < least) {
    complaints_.add(value, path,
                    fmt::format("{} is too small; at least {}", value.as_string(), shown(least)));
  } else if (number > most) {
    complaints_.add(value, path, fmt::format("{} is too large; at most {}", value.as_string(), shown(most)));
  }
}

template <class T>
void Reader::read_container(const Value& value, const std::string& path, T& into, const Limits& range) {
  if constexpr (Optional<T>) {
    into.reset();
    if (!value.is(Value::Kind::kNull)) read(value, path, into.emplace(), range);
  } else if constexpr (Map<T>) {
    if (!is(value, Value::Kind::kObject, path, "an object")) return;
    into.clear();
    for (const Value::Member& member : value.members()) {
      read(member.value, joined(path, member.name), into[member.name], range);
    }
  } else {
    if (!is(value, Value::Kind::kArray, path, "an array")) return;
    into.clear();
    for (std::size_t i = 0; i < value.elements().size(); ++i) {
      typename T::value_type element{};
      read(value.elements()[i], joined(path, i), element, range);
      into.push_back(std::move(element));
    }
  }
}

template <class T>
void Reader::read_struct(const Value& value, const std::string& path, T& into, const Limits& range) {
  if constexpr (HasShorthand<T>) {
    if (!value.is(Value::Kind::kObject)) {
      typename Shorthand<T>::Short simple{};
      read(value, path, simple, range);
      into = Shorthand<T>::from(std::move(simple));
      return;
    }
  }
  if (!is(value, Value::Kind::kObject, path, "an object")) return;
  into = T{};
  Reader reader(value, path, complaints_);
  fields(reader, into);
  reader.finish();
}

}  // namespace weir
