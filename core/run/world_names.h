// The names of worlds in results and records.
#pragma once

#include <string_view>

namespace weir {

inline constexpr std::string_view kSimGridWorld = "SimGrid";
inline constexpr std::string_view kFluidWorld = "the fluid engine";
inline constexpr std::string_view kLocalWorld = "processes on one host";
inline constexpr std::string_view kLabWorld = "a lab on one host";
inline constexpr std::string_view kClusterWorld = "a cluster";

}  // namespace weir
