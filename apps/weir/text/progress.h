// Prints on the error stream how many runs have ended. A terminal shows one line that is overwritten. Other
// outputs show a line at each tenth, if there are many runs.
#pragma once

#include <cstddef>

namespace weir {

class Progress {
 public:
  explicit Progress(std::size_t all);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Call it after each run.
  void show(std::size_t ended) const;
  /// Call it before anything else is printed.
  void clear() const;

 private:
  std::size_t all_;
  bool terminal_;
};

}  // namespace weir
