// Finds the number that a path has among many.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// A table of hashes beside the paths, at least half of it empty.
class PathIndex {
 public:
  /// The path's position; it is added if it is new. The same paths each time.
  int of(PathView path, Paths& paths);

 private:
  struct Entry {
    std::uint32_t hash = 0;
    int path = -1;  // none
  };
  void add(Entry entry);

  std::vector<Entry> entries_ = std::vector<Entry>(64);  // as many as a power of two
  std::size_t known_ = 0;
};

}  // namespace weir
