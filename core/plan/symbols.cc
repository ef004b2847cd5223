#include "core/plan/symbols.h"

#include <algorithm>
#include <iterator>

namespace weir {

Symbol clipped(const Symbol& symbol, const Range& range) {
  Symbol part = symbol;
  part.range.offset = std::max(symbol.range.offset, range.offset);
  part.range.size = std::min(symbol.range.end(), range.end()) - part.range.offset;
  part.gradient += part.range.offset - symbol.range.offset;
  return part;
}

std::vector<Symbol> Symbols::read(const Range& range) const {
  std::vector<Symbol> found;
  auto at = symbols_.upper_bound(range.offset);
  if (at != symbols_.begin() && std::prev(at)->second.range.end() > range.offset) --at;
  for (; at != symbols_.end() && at->first < range.end(); ++at) found.push_back(clipped(at->second, range));
  return found;
}

void Symbols::erase(const Range& range) {
  auto at = symbols_.upper_bound(range.offset);
  if (at != symbols_.begin() && std::prev(at)->second.range.end() > range.offset) --at;
  while (at != symbols_.end() && at->first < range.end()) {
    const Symbol old = at->second;
    at = symbols_.erase(at);
    if (old.range.offset < range.offset) {
      const Symbol left = clipped(old, {old.range.offset, range.offset - old.range.offset});
      symbols_.emplace(left.range.offset, left);
    }
    if (old.range.end() > range.end()) {
      const Symbol right = clipped(old, {range.end(), old.range.end() - range.end()});
      symbols_.emplace(right.range.offset, right);
    }
  }
}

void Symbols::write(const Symbol& symbol) {
  erase(symbol.range);
  symbols_.emplace(symbol.range.offset, symbol);
}

std::optional<Bytes> gap(const std::vector<Symbol>& symbols, const Range& range) {
  Bytes at = range.offset;
  for (const Symbol& symbol : symbols) {
    if (symbol.range.offset > at) return at;
    at = symbol.range.end();
  }
  return at < range.end() ? std::optional(at) : std::nullopt;
}

}  // namespace weir
