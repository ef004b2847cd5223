// How much its flows can now use of a link that binds only at times (binding.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/simulate/engines/binding.h"

namespace weir {

/// Counts the link's flows by cover. A link without covers counts none. A value.
class CoverCount {
 public:
  CoverCount() = default;
  explicit CoverCount(std::vector<Cover> covers);

  bool none() const { return covers_.empty(); }
  /// The cover that a flow on this path counts for.
  std::uint32_t cover_of(PathView path) const;
  /// A flow that counts for this cover arrives or leaves. Returns whether that changed possible().
  bool enter(std::uint32_t cover) { return flows_[cover]++ == 0; }
  bool leave(std::uint32_t cover) { return --flows_[cover] == 0; }
  /// The most that all flows can use together, in bytes per second.
  double possible() const;

 private:
  std::vector<Cover> covers_;
  std::vector<std::uint32_t> flows_;  // by cover
};

}  // namespace weir
