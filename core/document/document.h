// A JSON document whose every value knows its file and line, so that a complaint about a value can say where
// it stands. Numbers keep their kind, objects their order, and a key that occurs twice is an error.
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

/// A template, so that an object can be made of members before its own type is complete.
template <class V>
struct MemberOf {
  std::string name;
  V value;
  friend bool operator==(const MemberOf&, const MemberOf&) = default;
};

}  // namespace internal

/// One JSON value with all that it contains. A document is its outermost value.
class Value {
 public:
  enum class Kind { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };
  using Member = internal::MemberOf<Value>;

  Value() = default;
  explicit Value(bool value) : kind_(Kind::kBool), integer_(value ? 1 : 0) {}
  explicit Value(std::int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  explicit Value(double value) : kind_(Kind::kDouble), double_(value) {}
  explicit Value(std::string value) : kind_(Kind::kString), string_(std::move(value)) {}
  explicit Value(const char* value) : Value(std::string(value)) {}  // which would else be a bool
  static Value array();
  static Value object();

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }

  /// What the value holds; the kind must be the right one (as_double also takes an integer).
  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_double() const;
  const std::string& as_string() const;
  const std::vector<Value>& elements() const;
  const std::vector<Member>& members() const;

  /// The object's value of that name, or null if there is none or this is no object.
  const Value* find(std::string_view name) const;

  /// Replaces or adds the value at a path such as "groups.cpu.count" or "groups.1.nics.0.rate", whose steps
  /// are names of an object, and positions in an array or the "name" of one of its elements. All but the last
  /// step must exist. The complaint stands at the line of `value`.
  Result<void> set(std::string_view path, Value value);

  /// "topologies/lab.json:12", or nothing for a value that came from no file.
  std::string where() const;
  /// The file, or nothing.
  std::string file() const { return file_ ? *file_ : std::string(); }

  /// Adds to an array or object.
  void append(Value element);
  /// The object has no member of that name yet.
  void append(std::string name, Value value);

  /// Says where the value came from. The name of the file is shared by all values of the file. A value that
  /// stands on no line of a file, as on a command line, has line 0.
  void place(std::shared_ptr<const std::string> file, int line);
  /// Places all that is in it too.
  void place_all(const std::shared_ptr<const std::string>& file, int line);
  /// Places the value, without its elements and members, where the other stands.
  void place_beside(const Value& other);
  /// Says by which path its writer knows this value: complaints about it, and about those in it, then name
  /// that path, wherever in a document it is put.
  void written_at(const std::string& path);
  /// That path, or the one where the value was found.
  std::string_view path(std::string_view found) const { return path_ ? *path_ : found; }

  /// Equal in content, wherever the two came from.
  friend bool operator==(const Value& a, const Value& b);

 private:
  Value* step(std::string_view name);
  std::string steps() const;

  Kind kind_ = Kind::kNull;
  int line_ = 0;
  std::int64_t integer_ = 0;
  double double_ = 0;
  std::shared_ptr<const std::string> file_;
  std::shared_ptr<const std::string> path_;  // none: where it is found
  std::string string_;
  std::vector<Value> elements_;
  std::vector<Member> members_;
};

/// The document that the text holds; `file` is its name in complaints.
Result<Value> parse_document(std::string_view text, const std::string& file);

/// The document in the file.
Result<Value> read_document(const std::string& file);

/// The whole file as text.
Result<std::string> read_text(const std::string& file);

/// The path of a member or of an element: "groups" and "groups[2]" or "groups[2].nics".
std::string joined(std::string_view path, std::string_view name);
std::string joined(std::string_view path, std::size_t index);

/// "topologies/lab.json:12: groups[0].count: the complaint": the place of the value, its path, and what is
/// wrong.
std::string complaint(const Value& value, std::string_view path, std::string_view text);

/// What the value is, for complaints: "the string 'eight'", "an array".
std::string description(const Value& value);

/// The value without its lines.
nlohmann::ordered_json json(const Value& value);

/// The JSON as text: in one line, or with this many blanks of indentation a level. Bytes that are no UTF-8
/// are replaced.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace weir
