// Collects all errors in one input, so that a user can fix them in one go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

class Complaints {
 public:
  /// Adds "file:12: path: text" with the file and line of the value.
  void add(const Value& value, std::string_view path, std::string_view text);
  /// Adds all complaints of the other.
  void add(const Complaints& others);

  bool empty() const { return lines_.empty(); }

  /// The first ten complaints, one a line.
  Error error() const;

 private:
  std::vector<std::string> lines_;
};

/// The value at a path such as "groups[2].nics[0].rate". If it does not exist: the last existing value on the
/// way.
const Value& located(const Value& root, std::string_view path);

}  // namespace weir
