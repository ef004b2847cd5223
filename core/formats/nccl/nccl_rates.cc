#include "core/formats/nccl/nccl_rates.h"

#include <array>

namespace weir::nccl {
namespace {

constexpr BytesPerSecond mega(std::int64_t megabytes) { return BytesPerSecond(megabytes * 1'000'000); }

struct Generation {
  std::string_view transfers;
  std::int64_t speed;  // of a lane, in 100 Mbps
};

// Both spellings of Linux. Longer texts that begin like this ("16.0 GT/s PCIe") mean the same.
constexpr std::array<Generation, 11> kGenerations = {{{"2.5 GT/s", 15},
                                                      {"5 GT/s", 30},
                                                      {"5.0 GT/s", 30},
                                                      {"8 GT/s", 60},
                                                      {"8.0 GT/s", 60},
                                                      {"16 GT/s", 120},
                                                      {"16.0 GT/s", 120},
                                                      {"32 GT/s", 240},
                                                      {"32.0 GT/s", 240},
                                                      {"64 GT/s", 480},
                                                      {"64.0 GT/s", 480}}};

}  // namespace

std::optional<BytesPerSecond> pcie_rate(std::string_view link_speed, int width) {
  for (const Generation& generation : kGenerations) {
    if (!link_speed.starts_with(generation.transfers)) continue;
    return BytesPerSecond(width * generation.speed * (1'000'000'000 / 80));
  }
  return std::nullopt;
}

BytesPerSecond nvlink_rate(int sm) {
  if (sm >= 100) return mega(40'100);
  if (sm >= 90) return mega(20'600);
  if (sm == 86) return mega(12'000);
  if (sm >= 60 && sm < 70) return mega(18'000);
  return mega(20'000);
}

std::optional<BytesPerSecond> xgmi_rate(std::string_view gcn, int sm) {
  if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
  if (gcn.starts_with("900") || gcn.starts_with("906") || gcn.starts_with("908")) return mega(24'000);
  if (gcn.starts_with("90a") || gcn == "910") return mega(36'000);  // early files say 910
  if (gcn.starts_with("94") || gcn.starts_with("95")) return mega(48'000);
  if (gcn.starts_with("1250")) return mega(64'000);
  // Without gcn, sm is the same for gfx906, gfx908 and gfx90a.
  if (gcn.empty() && (sm == 94 || sm == 95)) return mega(48'000);
  return std::nullopt;
}

std::optional<BytesPerSecond> socket_rate(std::string_view arch, std::string_view vendor, int family,
                                          int model) {
  if (arch == "ppc64") return mega(32'000);
  if (arch == "arm64") return mega(6'000);
  if (arch != "x86_64") return std::nullopt;
  if (vendor == "AuthenticAMD") return mega(16'000);
  if (vendor != "GenuineIntel") return std::nullopt;
  if (family != 6 || model < 0x55) return mega(6'000);  // Broadwell
  if (model < 0x8F) return mega(10'000);                // Skylake
  if (model < 0xCF) return mega(22'000);                // Sapphire Rapids
  return mega(40'000);                                  // Emerald Rapids
}

BytesPerSecond network_rate(std::int64_t mbps) { return BytesPerSecond(mbps * 125'000); }

}  // namespace weir::nccl
