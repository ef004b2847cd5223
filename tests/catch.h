// The test framework, in either of the versions that distributions ship.
#pragma once

#include <string>

#ifdef WEIR_CATCH2_V3
#include <catch2/catch_all.hpp>

using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Matches texts that contain `part`; the versions call this matcher by different names.
inline auto has_text(const std::string& part) {
#ifdef WEIR_CATCH2_V3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}
