// What the bytes of one replica of a buffer hold during the symbolic run of a plan: which gradient bytes of
// the model, summed over which contributors.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/plan/contributors.h"
#include "core/workload/workload.h"

namespace weir {

/// A run of bytes that hold one sum.
struct Symbol {
  Range range;
  Bytes gradient;        // the gradient byte that the first byte holds, as an offset in the gradient buffer
  SetId set;             // whose gradients are summed; none: an op left unusable bytes there
  OpId writer;           // the last op that changed them
  bool updated = false;  // whether it includes an optimizer's step
};

/// The part of the symbol within the range, which must overlap it.
Symbol clipped(const Symbol& symbol, const Range& range);

/// Appends the symbol, which begins where the last one ends. If it continues the last symbol, the two become
/// one.
void append(std::vector<Symbol>& symbols, const Symbol& symbol);

/// A map from bytes to symbols. Invariants: symbols do not overlap; they lie in order, in chunks of bounded
/// size that are never empty. So a change moves few of them.
class Symbols {
 public:
  /// Appends the symbols in the range, cut to it, in order. Bytes that were never written are left out.
  void read(const Range& range, std::vector<Symbol>& found) const;
  /// Replaces what was there by these symbols, which follow each other without a gap.
  void write(std::span<const Symbol> symbols);

 private:
  using Chunk = std::vector<Symbol>;
  std::size_t chunk_at(Bytes offset) const;
  static std::size_t first_behind(const Chunk& chunk, Bytes offset);
  void join(std::size_t chunk, Bytes end);
  void split(std::size_t chunk);

  std::vector<Chunk> chunks_;
};

/// The first byte of the range that no symbol covers, if there is one. The symbols must be in order and lie
/// within the range.
std::optional<Bytes> gap(std::span<const Symbol> symbols, const Range& range);

}  // namespace weir
