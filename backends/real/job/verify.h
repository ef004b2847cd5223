// Which iterations of a job write gradients with known sums, and check every element of the sums.
#pragma once

#include <array>
#include <cstdint>

#include "core/document/fields.h"

namespace weir::real {

enum class Verify : std::uint8_t {
  kNone,
  kFirst,  // an extra one before the recorded ones, which are not slowed down
  kAll,    // all recorded ones
};

inline auto enum_names(Verify /*verify*/) {
  return std::array<Named<Verify>, 3>{
      {{Verify::kNone, "none"}, {Verify::kFirst, "first"}, {Verify::kAll, "all"}}};
}

}  // namespace weir::real
