// The rates that NCCL gives to what its topology files name (src/graph/topo.h of NCCL 2.2x): each way, with
// the loss of protocols already taken off.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace weir::nccl {

/// width x speed / 80 GB/s, the speed being that of a lane in units of 100 Mbps: 12 GB/s for "8.0 GT/s PCIe"
/// x16. None if NCCL's table does not hold the text.
std::optional<BytesPerSecond> pcie_rate(std::string_view link_speed, int width);

/// What NCCL takes where link_speed tells nothing, and where the width is 0.
inline constexpr std::string_view kDefaultSpeed = "8.0 GT/s PCIe";
inline constexpr int kDefaultWidth = 16;

/// One NVLink of a GPU of that compute capability (90 for an H100).
BytesPerSecond nvlink_rate(int sm);

/// Between two sockets of such CPUs; none if NCCL does not know them.
std::optional<BytesPerSecond> socket_rate(std::string_view arch, std::string_view vendor, int family,
                                          int model);

/// A NIC's speed in Mbps; what NCCL takes where it is not told.
BytesPerSecond network_rate(std::int64_t mbps);
inline constexpr std::int64_t kDefaultMbps = 10'000;

}  // namespace weir::nccl
