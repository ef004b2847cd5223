// Collects an importer's remarks about a file: errors, and assumptions where the file says nothing.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

class Remarks {
 public:
  explicit Remarks(std::string file) : file_(std::move(file)) {}

  void wrong(int line, const std::string& text);
  /// A text that applies to several lines is reported once. Line 0 means the file as a whole.
  void assumed(int line, const std::string& text);

  bool good() const { return wrong_.empty(); }
  /// The first few errors, one a line.
  Error error() const;
  /// "machine.xml:12: text (here and 7 more times)", in the order of their first lines.
  std::vector<std::string> warnings() const;

 private:
  struct Assumption {
    std::string text;
    int line = 0;
    int lines = 0;
  };

  std::string where(int line) const;

  std::string file_;
  std::vector<std::string> wrong_;
  std::vector<Assumption> assumed_;
};

}  // namespace weir
