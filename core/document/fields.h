// A configuration struct lists its fields once, for reading, for writing and for its schema:
//
//     struct NicSpec {
//       std::string at;
//       int count = 1;
//     };
//
//     template <class Visitor>
//     void fields(Visitor& visitor, NicSpec& nic) {
//       visitor.required("at", nic.at, "the NUMA node or switch that it is attached to");
//       visitor.optional("count", nic.count, "how many equal ones", at_least(1));
//     }
//
// Visitors are the Reader (read_fields.h), the Writer (write_fields.h) and the SchemaWriter (schema.h). The
// default of an optional field is the struct's own initializer. A field is one of
//
// * bool, an integer, double, std::string;
// * Bytes, BytesPerSecond, Duration: text with a unit;
// * an enumeration that has names (`enum_names` below);
// * a struct with fields, perhaps with a shorthand (`Shorthand` below);
// * std::vector or std::map<std::string, ...> of fields;
// * std::optional of a field: may be missing or null, and then holds nothing;
// * Value: any JSON at all.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"
#include "core/base/units_text.h"
#include "core/document/document.h"
#include "core/document/spelling.h"

namespace weir {

/// What a field accepts: bounds for a number or a quantity (in its smallest unit), or which characters a text
/// may contain.
struct Limits {
  std::optional<double> least;  // inclusive
  std::optional<double> most;   // inclusive
  Spelling spelling = Spelling::kAny;
};

constexpr Limits at_least(double bound) { return {.least = bound}; }
constexpr Limits within(double least, double most) { return {.least = least, .most = most}; }
constexpr Limits up_to(Duration most) { return {.most = static_cast<double>(most.ns())}; }
constexpr Limits spelt(Spelling spelling) { return {.spelling = spelling}; }

/// A value of an enumeration and its name in files.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};

/// An enumeration with names. Beside it a function `enum_names(Enum)` returns a list of Named<Enum>, as a
/// rule a constexpr std::array; it ignores the value of its argument.
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  enum_names(value).size();
};

/// The name of the value, which must have one.
template <NamedEnum T>
std::string_view enum_name(T value) {
  for (const auto& named : enum_names(value)) {
    if (named.value == value) return named.name;
  }
  WEIR_CHECK(false, static_cast<int>(value));
  return {};
}

/// Specialized for a struct that may also be written as one simple value, such as one rate for both
/// directions:
///
///     using Short = ...;                              // the type of the simple value
///     static T from(Short);
///     static std::optional<Short> of(const T&);       // none if it needs the long form
template <class T>
struct Shorthand {
  using Short = void;
};

template <class T>
concept HasShorthand = !std::is_void_v<typename Shorthand<T>::Short>;

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// A quantity with a unit: how its text is parsed, what its schema says, and the limits beyond which a value
/// is rejected as a likely mistake. The limits leave room to add up 64-bit nanoseconds and bytes over a
/// cluster.
template <class T>
struct UnitText {
  static constexpr bool kHas = false;
};

template <>
struct UnitText<Bytes> {
  static constexpr bool kHas = true;
  static constexpr std::string_view kExpected = "a size such as '4MiB'";
  static constexpr Limits kLimits = {.most = 1e15};  // 1 PB
  static constexpr std::int64_t count(Bytes size) { return size.count(); }
  static Result<Bytes> parse(std::string_view text) { return parse_size(text); }
  static std::string pattern() { return size_pattern(); }
};

template <>
struct UnitText<BytesPerSecond> {
  static constexpr bool kHas = true;
  static constexpr std::string_view kExpected = "a rate such as '100Gbps'";
  static constexpr Limits kLimits = {.least = 125e3, .most = 1e15};  // 1 Mbps, 1 PB/s; or unlimited
  static constexpr std::int64_t count(BytesPerSecond rate) { return rate.value(); }
  static Result<BytesPerSecond> parse(std::string_view text) { return parse_rate(text); }
  static std::string pattern() { return rate_pattern(); }
};

template <>
struct UnitText<Duration> {
  static constexpr bool kHas = true;
  static constexpr std::string_view kExpected = "a duration such as '5us'";
  static constexpr Limits kLimits = {.most = 3600e9};  // 1 h
  static constexpr std::int64_t count(Duration duration) { return duration.ns(); }
  static Result<Duration> parse(std::string_view text) { return parse_duration(text); }
  static std::string pattern() { return duration_pattern(); }
};

template <class T>
concept HasUnit = UnitText<T>::kHas;

namespace internal {

template <class T>
struct Container {
  static constexpr bool kVector = false;
  static constexpr bool kOptional = false;
  static constexpr bool kMap = false;
};

template <class T>
struct Container<std::vector<T>> : Container<void> {
  static constexpr bool kVector = true;
};

template <class T>
struct Container<std::optional<T>> : Container<void> {
  static constexpr bool kOptional = true;
};

template <class T>
struct Container<std::map<std::string, T>> : Container<void> {
  static constexpr bool kMap = true;
};

}  // namespace internal

template <class T>
concept Vector = internal::Container<T>::kVector;
template <class T>
concept Optional = internal::Container<T>::kOptional;
template <class T>
concept Map = internal::Container<T>::kMap;

}  // namespace weir
