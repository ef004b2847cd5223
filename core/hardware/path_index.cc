#include "core/hardware/path_index.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

std::uint32_t hash_of(PathView path) {
  std::uint64_t hash = 0;
  for (const auto& [link, weight] : path)
    hash = (hash + link.value()) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(weight);
  return static_cast<std::uint32_t>(hash >> 32 ^ hash);
}

}  // namespace

int PathIndex::of(PathView path, Paths& paths) {
  const std::uint32_t hash = hash_of(path);
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = hash & mask; entries_[at].path >= 0; at = (at + 1) & mask) {
    const Entry& entry = entries_[at];
    if (entry.hash == hash && std::ranges::equal(paths[static_cast<std::size_t>(entry.path)], path))
      return entry.path;
  }
  const auto number = static_cast<int>(paths.size());
  paths.add(path);
  if (2 * ++known_ > entries_.size()) {
    const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    for (const Entry& entry : before) {
      if (entry.path >= 0) add(entry);
    }
  }
  add({hash, number});
  return number;
}

void PathIndex::add(Entry entry) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = entry.hash & mask;
  while (entries_[at].path >= 0) at = (at + 1) & mask;
  entries_[at] = entry;
}

}  // namespace weir
