#include "core/experiment/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace weir {
namespace {

constexpr std::string_view kOption = "--set ";

bool is_utf8(std::string_view text) {
  using Policy = nlohmann::json::error_handler_t;
  const nlohmann::json value = std::string(text);
  return value.dump(-1, ' ', false, Policy::ignore) == value.dump(-1, ' ', false, Policy::replace);
}

std::vector<std::string_view> steps(std::string_view path) {
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t end = path.find('.');
    result.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return result;
    path.remove_prefix(end + 1);
  }
}

// The element of the array with this "name", or else at this position.
std::optional<std::size_t> position(const Value& array, std::string_view step) {
  const std::vector<Value>& elements = array.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Value* name = elements[i].find("name");
    if (name != nullptr && name->is(Value::Kind::kString) && name->as_string() == step) return i;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= elements.size())
    return std::nullopt;
  return index;
}

const Value* inside(const Value& value, std::string_view step) {
  if (!value.is(Value::Kind::kArray)) return value.find(step);
  const std::optional<std::size_t> index = position(value, step);
  return index ? &value.elements()[*index] : nullptr;
}

// An empty object with the value's place.
Value object_beside(const Value& value) {
  Value object = Value::object();
  object.place_beside(value);
  return object;
}

Result<void> put(Value& document, const Setting& setting) {
  const Value* at = &document;
  std::size_t end = setting.path.find('.');
  for (std::size_t begin = 0; end != std::string::npos; end = setting.path.find('.', begin)) {
    const std::string_view step = std::string_view(setting.path).substr(begin, end - begin);
    const Value* next = inside(*at, step);
    if (next == nullptr && at->is(Value::Kind::kObject) && !step.empty()) {
      auto made = document.set(setting.path.substr(0, end), object_beside(setting.value));
      if (!made) return made;
      next = at->find(step);
    }
    if (next == nullptr) break;  // set() says why
    at = next;
    begin = end + 1;
  }
  return document.set(setting.path, setting.value);
}

}  // namespace

std::vector<std::string> paths_in(std::string_view paths) {
  std::vector<std::string> result;
  while (true) {
    const std::size_t end = paths.find(',');
    std::string_view path = paths.substr(0, end);
    while (path.starts_with(' ')) path.remove_prefix(1);
    while (path.ends_with(' ')) path.remove_suffix(1);
    result.emplace_back(path);
    if (end == std::string_view::npos) return result;
    paths.remove_prefix(end + 1);
  }
}

std::string label(const Value& value) {
  return value.is(Value::Kind::kString) ? value.as_string() : json(value).dump();
}

Result<Setting> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return failure(fmt::format("'{}' sets nothing; expected path=value, such as partition_size=4MB", text));
  }
  if (!is_utf8(text)) return failure("expected text in UTF-8");
  Setting setting;
  setting.path = text.substr(0, equals);
  const auto origin = std::make_shared<const std::string>(std::string(kOption) + setting.path);
  const std::string_view value = text.substr(equals + 1);
  const auto document = parse_document(value, *origin);
  setting.value = document ? *document : Value(std::string(value));
  setting.value.place_all(origin, 0);
  setting.value.written_at("");
  setting.text = label(setting.value);
  return setting;
}

bool on_command_line(const Value& value) { return value.where().starts_with(kOption); }

std::string label(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.path, setting.text);
  }
  return text;
}

std::vector<Error> put(Value& document, const std::vector<Setting>& given) {
  std::vector<Setting> settings;
  for (const Setting& setting : given) {
    for (std::string& path : paths_in(setting.path))
      settings.push_back({std::move(path), setting.value, setting.text});
  }
  std::stable_sort(settings.begin(), settings.end(), [](const Setting& a, const Setting& b) {
    return steps(a.path).size() < steps(b.path).size();
  });
  std::vector<Error> errors;
  for (const Setting& setting : settings) {
    if (const auto done = put(document, setting); !done) errors.push_back(done.error());
  }
  return errors;
}

std::string place(const Value& document, std::string_view path) {
  std::string text;
  const Value* at = &document;
  for (const std::string_view step : steps(path)) {
    const bool element = at != nullptr && at->is(Value::Kind::kArray);
    const std::optional<std::size_t> index = element ? position(*at, step) : std::nullopt;
    text += index ? fmt::format("{}.", *index) : fmt::format("{}.", step);
    if (at != nullptr) at = inside(*at, step);
  }
  return text;
}

}  // namespace weir
