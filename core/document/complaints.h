// All that is wrong with one input, gathered so that a user mends it in one go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

class Complaints {
 public:
  /// "file:12: path: text", at the value's line.
  void add(const Value& value, std::string_view path, std::string_view text);
  /// All of the others'.
  void add(const Complaints& others);

  bool empty() const { return lines_.empty(); }

  /// One complaint a line, the first few of them.
  Error error() const;

 private:
  std::vector<std::string> lines_;
};

/// The value at a path such as "groups[2].nics[0].rate", or the innermost one on the way to it that exists.
const Value& located(const Value& root, std::string_view path);

}  // namespace weir
