#include "core/document/document.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/check.h"
#include "core/base/nearest.h"

namespace weir {
namespace {

/// The step of a path as a position in an array, if it is a number.
std::optional<std::size_t> position(std::string_view step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return index;
}

}  // namespace

Value Value::array() {
  Value value;
  value.kind_ = Kind::kArray;
  return value;
}

Value Value::object() {
  Value value;
  value.kind_ = Kind::kObject;
  return value;
}

bool Value::as_bool() const {
  WEIR_CHECK(kind_ == Kind::kBool, where());
  return integer_ != 0;
}

std::int64_t Value::as_integer() const {
  WEIR_CHECK(kind_ == Kind::kInteger, where());
  return integer_;
}

double Value::as_double() const {
  WEIR_CHECK(kind_ == Kind::kDouble || kind_ == Kind::kInteger, where());
  return kind_ == Kind::kDouble ? double_ : static_cast<double>(integer_);
}

const std::string& Value::as_string() const {
  WEIR_CHECK(kind_ == Kind::kString, where());
  return string_;
}

const std::vector<Value>& Value::elements() const {
  WEIR_CHECK(kind_ == Kind::kArray, where());
  return elements_;
}

const std::vector<Value::Member>& Value::members() const {
  WEIR_CHECK(kind_ == Kind::kObject, where());
  return members_;
}

const Value* Value::find(std::string_view name) const {
  for (const Member& member : members_) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

void Value::append(Value element) {
  WEIR_CHECK(kind_ == Kind::kArray, where());
  elements_.push_back(std::move(element));
}

void Value::append(std::string name, Value value) {
  WEIR_CHECK(kind_ == Kind::kObject, where(), name);
  members_.push_back({std::move(name), std::move(value)});
}

void Value::place(std::shared_ptr<const std::string> file, int line) {
  file_ = std::move(file);
  line_ = line;
}

void Value::place_all(const std::shared_ptr<const std::string>& file, int line) {
  place(file, line);
  for (Member& member : members_) member.value.place_all(file, line);
  for (Value& element : elements_) element.place_all(file, line);
}

void Value::place_beside(const Value& other) {
  file_ = other.file_;
  line_ = other.line_;
  path_ = other.path_;
}

void Value::written_at(const std::string& path) {
  path_ = std::make_shared<const std::string>(path);
  for (Member& member : members_) member.value.written_at(joined(path, member.name));
  for (std::size_t i = 0; i < elements_.size(); ++i) elements_[i].written_at(joined(path, i));
}

std::string Value::where() const {
  if (!file_) return {};
  return line_ > 0 ? fmt::format("{}:{}", *file_, line_) : *file_;
}

Value* Value::step(std::string_view name) {
  for (Member& member : members_) {
    if (member.name == name) return &member.value;
  }
  for (Value& element : elements_) {
    const Value* own_name = element.find("name");
    if (own_name != nullptr && own_name->is(Kind::kString) && own_name->as_string() == name) return &element;
  }
  const std::optional<std::size_t> index = position(name);
  return index && *index < elements_.size() ? &elements_[*index] : nullptr;
}

std::string Value::steps() const {
  if (kind_ != Kind::kObject && kind_ != Kind::kArray) return fmt::format("it is {}", description(*this));
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  for (const Value& element : elements_) {
    const Value* name = element.find("name");
    names.push_back(name != nullptr && name->is(Kind::kString) ? name->as_string()
                                                               : std::to_string(names.size()));
  }
  return names.empty() ? "it is empty" : fmt::format("there are {}", quoted(names));
}

Result<void> Value::set(std::string_view path, Value value) {
  Value* at = this;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    const bool last = end == path.size();
    Value* next = at->step(name);
    if (next != nullptr && last) {
      *next = std::move(value);
      return {};
    }
    if (next == nullptr && last && at->is(Kind::kObject) && !name.empty()) {
      at->append(std::string(name), std::move(value));
      return {};
    }
    if (next == nullptr) {
      const std::string_view parent = begin == 0 ? "the document" : path.substr(0, begin - 1);
      return failure(complaint(value, path, fmt::format("{} has no '{}'; {}", parent, name, at->steps())));
    }
    at = next;
    begin = end + 1;
  }
}

bool operator==(const Value& a, const Value& b) {
  return a.kind_ == b.kind_ && a.integer_ == b.integer_ && a.double_ == b.double_ && a.string_ == b.string_ &&
         a.elements_ == b.elements_ && a.members_ == b.members_;
}

std::string joined(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string joined(std::string_view path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

std::string complaint(const Value& value, std::string_view path, std::string_view text) {
  std::string line = value.where();
  if (!line.empty()) line += ": ";
  if (const std::string_view shown = value.path(path); !shown.empty()) line += fmt::format("{}: ", shown);
  return line.append(text);
}

std::string description(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Value::Kind::kInteger:
      return fmt::format("the integer {}", value.as_integer());
    case Value::Kind::kDouble:
      return fmt::format("the number {}", value.as_double());
    case Value::Kind::kString:
      return fmt::format("the string '{}'", value.as_string());
    case Value::Kind::kArray:
      return "an array";
    case Value::Kind::kObject:
      return "an object";
  }
  WEIR_CHECK(false, static_cast<int>(value.kind()));
  return {};
}

nlohmann::ordered_json json(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return nullptr;
    case Value::Kind::kBool:
      return value.as_bool();
    case Value::Kind::kInteger:
      return value.as_integer();
    case Value::Kind::kDouble:
      return value.as_double();
    case Value::Kind::kString:
      return value.as_string();
    case Value::Kind::kArray: {
      auto array = nlohmann::ordered_json::array();
      for (const Value& element : value.elements()) array.push_back(json(element));
      return array;
    }
    case Value::Kind::kObject: {
      auto object = nlohmann::ordered_json::object();
      for (const Value::Member& member : value.members()) object[member.name] = json(member.value);
      return object;
    }
  }
  WEIR_CHECK(false, static_cast<int>(value.kind()));
  return {};
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace weir
