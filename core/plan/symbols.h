// What the bytes of one replica of a buffer hold during the symbolic run of a plan: which gradient bytes of
// the model, summed over which contributors.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/plan/contributors.h"
#include "core/workload/workload.h"

namespace weir {

/// A run of bytes that hold one sum.
struct Symbol {
  Range range;
  Bytes gradient;  // offset in the gradient buffer of the byte that the first byte holds
  SetId set;       // whose gradients are summed; none: an op left nothing of use there
  OpId writer;     // the last op that changed them
};

/// The part of the symbol within the range, which overlaps it.
Symbol clipped(const Symbol& symbol, const Range& range);

/// A map from bytes to symbols. Invariant: symbols do not overlap.
class Symbols {
 public:
  /// The symbols in the range, cut to it, in order. Bytes that were never written are left out.
  std::vector<Symbol> read(const Range& range) const;
  void write(const Symbol& symbol);

 private:
  void erase(const Range& range);

  std::map<Bytes, Symbol> symbols_;  // by the offset of their first byte
};

/// The first byte of the range that no symbol covers, if there is one. The symbols are in order and lie
/// within the range.
std::optional<Bytes> gap(const std::vector<Symbol>& symbols, const Range& range);

}  // namespace weir
