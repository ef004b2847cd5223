#include "core/document/read_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weir {

Reader::Reader(const Value& object, std::string path, Complaints& complaints)
    : object_(object), path_(std::move(path)), complaints_(complaints) {}

const Value* Reader::take(std::string_view name) {
  known_.emplace_back(name);
  return object_.find(name);
}

void Reader::missing(std::string_view name, std::string_view about) const {
  complaints_.add(object_, path_, fmt::format("'{}' is missing: {}", name, about));
}

void Reader::unexpected(const Value& value, std::string_view path, std::string_view expected) const {
  complaints_.add(value, path, fmt::format("expected {}, not {}", expected, description(value)));
}

bool Reader::is(const Value& value, Value::Kind kind, std::string_view path,
                std::string_view expected) const {
  if (value.is(kind)) return true;
  unexpected(value, path, expected);
  return false;
}

bool Reader::check_range(const Value& value, std::string_view path, double number,
                         const Limits& range) const {
  if (range.least && !(number >= *range.least)) {
    complaints_.add(value, path, fmt::format("{} is too small; at least {}", number, *range.least));
  }
  if (range.most && !(number <= *range.most)) {
    complaints_.add(value, path, fmt::format("{} is too large; at most {}", number, *range.most));
  }
  return (!range.least || number >= *range.least) && (!range.most || number <= *range.most);
}

bool Reader::is_integer(const Value& value, std::string_view path, const Limits& range) const {
  // Documents hold numbers with a point or an exponent as doubles, and integers beyond 64 bits too.
  const bool whole = value.is(Value::Kind::kDouble) && std::trunc(value.as_double()) == value.as_double();
  if (!whole && !is(value, Value::Kind::kInteger, path, "an integer")) return false;
  if (!check_range(value, path, value.as_double(), range)) return false;
  if (whole)
    complaints_.add(
        value, path,
        fmt::format("expected an integer without point and exponent; try {:.0f}", value.as_double()));
  return !whole;
}

void Reader::finish() const {
  for (const Value::Member& member : object_.members()) {
    const bool known = std::find(known_.begin(), known_.end(), member.name) != known_.end();
    // Editors find the schema of a file through this key.
    if (known || member.name == "$schema") continue;
    const std::optional<std::string> meant = nearest(member.name, known_);
    const std::string remedy = meant ? fmt::format("did you mean '{}'?", *meant)
                                     : fmt::format("the keys here are {}", quoted(known_));
    complaints_.add(member.value, path_, fmt::format("unknown key '{}'; {}", member.name, remedy));
  }
}

}  // namespace weir
