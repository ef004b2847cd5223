// Finds a path's number among many paths.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// A hash table beside the paths, at least half of it empty.
class PathIndex {
 public:
  /// The path's position; a new path is added. Every call must pass the same `paths`.
  int of(PathView path, Paths& paths);

 private:
  struct Entry {
    std::uint32_t hash = 0;
    int path = -1;  // empty
  };
  void add(Entry entry);

  std::vector<Entry> entries_ = std::vector<Entry>(64);  // the size is a power of two
  std::size_t known_ = 0;
};

}  // namespace weir
