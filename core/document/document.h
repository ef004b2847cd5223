// A JSON document in which every value knows its file and line, so that errors can name the place. Numbers
// stay integers or doubles as written. Objects keep the order of their keys; a repeated key is an error.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace weir {

namespace internal {

/// A template, so that a Value can hold a vector of members while its own type is still incomplete.
template <class V>
struct MemberOf {
  std::string name;
  V value;
  friend bool operator==(const MemberOf&, const MemberOf&) = default;
};

}  // namespace internal

/// One JSON value with everything inside it. A document is its outermost value.
class Value {
 public:
  enum class Kind { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };
  using Member = internal::MemberOf<Value>;

  Value() = default;
  explicit Value(bool value) : kind_(Kind::kBool), integer_(value ? 1 : 0) {}
  explicit Value(std::int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  explicit Value(double value) : kind_(Kind::kDouble), double_(value) {}
  explicit Value(std::string value) : kind_(Kind::kString), string_(std::move(value)) {}
  explicit Value(const char* value) : Value(std::string(value)) {}  // otherwise it would become a bool
  static Value array();
  static Value object();

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }

  /// The content of the value. The kind must match, except that as_double also accepts an integer.
  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_double() const;
  const std::string& as_string() const;
  const std::vector<Value>& elements() const;
  const std::vector<Member>& members() const;

  /// The member with this name; null if there is none or if this is not an object.
  const Value* find(std::string_view name) const;

  /// Replaces or adds the value at a path such as "groups.cpu.count" or "groups.1.nics.0.rate". A step is a
  /// key of an object; in an array it is a position, or the "name" of an element. All steps before the last
  /// must exist. Errors name the line of `value`.
  Result<void> set(std::string_view path, Value value);

  /// "topologies/lab.json:12"; empty if the value came from no file.
  std::string where() const;
  /// The name of the file, or empty.
  std::string file() const { return file_ ? *file_ : std::string(); }

  /// Adds an element to an array.
  void append(Value element);
  /// Adds a member to an object, which must not have one with this name yet.
  void append(std::string name, Value value);

  /// Sets where the value came from. All values of a file share its name. Line 0 means that the value is on
  /// no line of a file, for example because it came from the command line.
  void place(std::shared_ptr<const std::string> file, int line);
  /// The same for the value and everything inside it.
  void place_all(const std::shared_ptr<const std::string>& file, int line);
  /// Gives the value the place of the other. Its elements and members keep their own places.
  void place_beside(const Value& other);
  /// Sets the path under which the user wrote this value. Complaints about it and about values inside it then
  /// name that path, wherever in a document the value ends up.
  void written_at(const std::string& path);
  /// The path set by written_at; without one, the path where the value was found.
  std::string_view path(std::string_view found) const { return path_ ? *path_ : found; }

  /// Compares contents only, not places.
  friend bool operator==(const Value& a, const Value& b);

 private:
  Value* step(std::string_view name);
  std::string steps() const;

  Kind kind_ = Kind::kNull;
  int line_ = 0;
  std::int64_t integer_ = 0;
  double double_ = 0;
  std::shared_ptr<const std::string> file_;
  std::shared_ptr<const std::string> path_;  // set by written_at
  std::string string_;
  std::vector<Value> elements_;
  std::vector<Member> members_;
};

/// Parses the text as a document. Errors name it `file`.
Result<Value> parse_document(std::string_view text, const std::string& file);

/// Reads and parses the file.
Result<Value> read_document(const std::string& file);

/// Reads the whole file as text.
Result<std::string> read_text(const std::string& file);

/// The path of a member or of an element: "groups" and "groups[2]" or "groups[2].nics".
std::string joined(std::string_view path, std::string_view name);
std::string joined(std::string_view path, std::size_t index);

/// "topologies/lab.json:12: groups[0].count: text": the place of the value, its path, and what is wrong.
std::string complaint(const Value& value, std::string_view path, std::string_view text);

/// A description of the value for complaints: "the string 'eight'", "an array".
std::string description(const Value& value);

/// The value as JSON, without files and lines.
nlohmann::ordered_json json(const Value& value);

/// The JSON as text: on one line, or with `indent` spaces of indentation a level. Bytes that are not valid
/// UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace weir
