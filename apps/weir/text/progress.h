// How many of the runs have ended, on the error stream: a line that is written over on a terminal, a line for
// each tenth of many runs elsewhere.
#pragma once

#include <cstddef>

namespace weir {

class Progress {
 public:
  explicit Progress(std::size_t all);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each run.
  void show(std::size_t ended) const;
  /// Before anything else is printed.
  void clear() const;

 private:
  std::size_t all_;
  bool terminal_;
};

}  // namespace weir
