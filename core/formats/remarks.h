// What an importer has to say about a file: what is wrong, and what it assumed where the file says nothing.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

class Remarks {
 public:
  explicit Remarks(std::string file) : file_(std::move(file)) {}

  void wrong(int line, const std::string& text);
  /// The same text of several lines is told once. Line 0 stands for the file as a whole.
  void assumed(int line, const std::string& text);

  bool good() const { return wrong_.empty(); }
  /// One complaint a line, the first few of them.
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
