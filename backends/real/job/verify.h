// Which iterations of a job write gradients whose sums are known, and check every element of the sums.
#pragma once

#include <array>
#include <cstdint>

#include "core/document/fields.h"

namespace weir::real {

enum class Verify : std::uint8_t {
  kNone,
  kFirst,  // one before those that are recorded, which take no longer for it
  kAll,    // those that are recorded
};

inline auto enum_names(Verify /*verify*/) {
  return std::array<Named<Verify>, 3>{
      {{Verify::kNone, "none"}, {Verify::kFirst, "first"}, {Verify::kAll, "all"}}};
}

}  // namespace weir::real
