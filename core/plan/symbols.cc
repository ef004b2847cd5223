#include "core/plan/symbols.h"

#include <algorithm>
#include <iterator>

namespace weir {
namespace {

constexpr std::size_t kMost = 128;  // symbols in a chunk

std::ptrdiff_t step(std::size_t count) { return static_cast<std::ptrdiff_t>(count); }

}  // namespace

Symbol clipped(const Symbol& symbol, const Range& range) {
  Symbol part = symbol;
  part.range.offset = std::max(symbol.range.offset, range.offset);
  part.range.size = std::min(symbol.range.end(), range.end()) - part.range.offset;
  part.gradient += part.range.offset - symbol.range.offset;
  return part;
}

void append(std::vector<Symbol>& symbols, const Symbol& symbol) {
  if (!symbols.empty()) {
    Symbol& last = symbols.back();
    if (last.set == symbol.set && last.writer == symbol.writer && last.updated == symbol.updated &&
        last.gradient + last.range.size == symbol.gradient) {
      last.range.size += symbol.range.size;
      return;
    }
  }
  symbols.push_back(symbol);
}

// The chunk with the symbol that covers the byte, if there is one.
std::size_t Symbols::chunk_at(Bytes offset) const {
  const auto behind = std::ranges::upper_bound(chunks_, offset, {},
                                               [](const Chunk& chunk) { return chunk.front().range.offset; });
  return behind == chunks_.begin() ? 0 : static_cast<std::size_t>(behind - chunks_.begin()) - 1;
}

// The first symbol that ends after the offset.
std::size_t Symbols::first_behind(const Chunk& chunk, Bytes offset) {
  const auto found =
      std::ranges::upper_bound(chunk, offset, {}, [](const Symbol& symbol) { return symbol.range.end(); });
  return static_cast<std::size_t>(found - chunk.begin());
}

void Symbols::read(const Range& range, std::vector<Symbol>& found) const {
  for (std::size_t c = chunk_at(range.offset); c < chunks_.size(); ++c) {
    const Chunk& chunk = chunks_[c];
    for (std::size_t i = first_behind(chunk, range.offset); i < chunk.size(); ++i) {
      if (chunk[i].range.offset >= range.end()) return;
      found.push_back(clipped(chunk[i], range));
    }
  }
}

void Symbols::write(std::span<const Symbol> symbols) {
  if (symbols.empty()) return;
  const Bytes begin = symbols.front().range.offset;
  const Bytes end = symbols.back().range.end();
  if (chunks_.empty()) chunks_.emplace_back();
  const std::size_t at = chunks_.size() == 1 ? 0 : chunk_at(begin);
  join(at, end);
  Chunk& chunk = chunks_[at];
  const std::size_t first = first_behind(chunk, begin);
  std::size_t last = first;
  while (last < chunk.size() && chunk[last].range.offset < end) ++last;
  if (first < last && chunk[last - 1].range.end() > end) {
    const Symbol& old = chunk[last - 1];
    const Symbol right = clipped(old, {end, old.range.end() - end});
    chunk.insert(chunk.begin() + step(last), right);
  }
  std::size_t place = first;
  if (first < last && chunk[first].range.offset < begin) {
    chunk[first] = clipped(chunk[first], {chunk[first].range.offset, begin - chunk[first].range.offset});
    ++place;
  }
  // The old symbols are overwritten or erased.
  const std::size_t room = std::min(last - place, symbols.size());
  std::ranges::copy(symbols.first(room), chunk.begin() + step(place));
  if (room < symbols.size()) {
    chunk.insert(chunk.begin() + step(place + room), symbols.begin() + step(room), symbols.end());
  } else {
    chunk.erase(chunk.begin() + step(place + room), chunk.begin() + step(last));
  }
  if (chunk.size() > kMost) split(at);
}

// Moves into the chunk all following symbols that begin before the end.
void Symbols::join(std::size_t chunk, Bytes end) {
  std::size_t last = chunk + 1;
  for (; last < chunks_.size() && chunks_[last].front().range.offset < end; ++last) {
    chunks_[chunk].insert(chunks_[chunk].end(), chunks_[last].begin(), chunks_[last].end());
  }
  if (last > chunk + 1) chunks_.erase(chunks_.begin() + step(chunk + 1), chunks_.begin() + step(last));
}

void Symbols::split(std::size_t chunk) {
  const Chunk whole = std::move(chunks_[chunk]);
  const std::size_t parts = 2 * whole.size() / kMost;
  std::vector<Chunk> made;
  for (std::size_t i = 0; i < parts; ++i) {
    made.emplace_back(whole.begin() + step(i * whole.size() / parts),
                      whole.begin() + step((i + 1) * whole.size() / parts));
  }
  chunks_[chunk] = std::move(made.front());
  chunks_.insert(chunks_.begin() + step(chunk + 1), std::make_move_iterator(made.begin() + 1),
                 std::make_move_iterator(made.end()));
}

std::optional<Bytes> gap(std::span<const Symbol> symbols, const Range& range) {
  Bytes at = range.offset;
  for (const Symbol& symbol : symbols) {
    if (symbol.range.offset > at) return at;
    at = symbol.range.end();
  }
  return at < range.end() ? std::optional(at) : std::nullopt;
}

}  // namespace weir
