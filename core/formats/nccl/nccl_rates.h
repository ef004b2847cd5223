// The rates that NCCL assigns to devices and links in its topology files (src/graph/topo.h of NCCL 2.2x).
// They hold for each direction, with protocol overhead already subtracted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace weir::nccl {

/// width x speed / 80 GB/s, where speed is that of a lane in units of 100 Mbps: 12 GB/s for "8.0 GT/s PCIe"
/// x16. None if the text is not in NCCL's table.
std::optional<BytesPerSecond> pcie_rate(std::string_view link_speed, int width);

/// What NCCL assumes if link_speed is missing or unknown, and if the width is 0.
inline constexpr std::string_view kDefaultSpeed = "8.0 GT/s PCIe";
inline constexpr int kDefaultWidth = 16;

/// The rate of one NVLink of a GPU with this compute capability (90 for an H100).
BytesPerSecond nvlink_rate(int sm);

/// The rate of one XGMI link of an AMD GPU, as RCCL has it (ncclTopoXGMISpeed in its src/graph/topo.h,
/// 2023-2025). `gcn` is "gfx942", or 942 in early files; if it is empty, `sm` decides (94 for gfx94x). None
/// if the generation is not known. (RCCL then takes 24 GB/s.)
std::optional<BytesPerSecond> xgmi_rate(std::string_view gcn, int sm);

/// The rate between two sockets with such CPUs; none if NCCL does not know them.
std::optional<BytesPerSecond> socket_rate(std::string_view arch, std::string_view vendor, int family,
                                          int model);

/// The rate of a NIC by its speed in Mbps, and the speed that NCCL assumes if it is missing.
BytesPerSecond network_rate(std::int64_t mbps);
inline constexpr std::int64_t kDefaultMbps = 10'000;

/// No NIC is faster: several ports of 800 Gbps, joined into one.
inline constexpr std::int64_t kFastestMbps = 6'400'000;

}  // namespace weir::nccl
