#include "core/document/complaints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weir {

namespace {

constexpr std::size_t kShown = 10;

}  // namespace

void Complaints::add(const Value& value, std::string_view path, std::string_view text) {
  lines_.push_back(complaint(value, path, text));
}

void Complaints::add(const Complaints& others) {
  lines_.insert(lines_.end(), others.lines_.begin(), others.lines_.end());
}

Error Complaints::error() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, lines_.size()); ++i) {
    if (i > 0) text += '\n';
    text += lines_[i];
  }
  if (lines_.size() > kShown) text += fmt::format("\nand {} more", lines_.size() - kShown);
  return Error{std::move(text)};
}

const Value& located(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (!path.empty()) {
    const Value* next = nullptr;
    if (path.front() == '.') path.remove_prefix(1);
    if (path.starts_with('[')) {
      std::size_t index = 0;
      const std::size_t close = path.find(']');
      std::from_chars(path.data() + 1, path.data() + close, index);
      if (at->is(Value::Kind::kArray) && index < at->elements().size()) next = &at->elements()[index];
      path.remove_prefix(close + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      next = at->find(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (next == nullptr) return *at;
    at = next;
  }
  return *at;
}

}  // namespace weir
