#include "core/formats/nccl/nccl_rates.h"

#include "tests/catch.h"

namespace weir::nccl {
namespace {

using namespace weir::literals;

TEST_CASE("the rate of PCIe is its width times the speed of a lane, over 80") {
  CHECK(pcie_rate("2.5 GT/s PCIe", 16) == 3_GBps);
  CHECK(pcie_rate("5.0 GT/s PCIe", 16) == 6_GBps);
  CHECK(pcie_rate("5 GT/s", 16) == 6_GBps);
  CHECK(pcie_rate("8.0 GT/s PCIe", 16) == 12_GBps);
  CHECK(pcie_rate("16 GT/s", 16) == 24_GBps);
  CHECK(pcie_rate("16.0 GT/s PCIe", 8) == 12_GBps);
  CHECK(pcie_rate("32.0 GT/s PCIe", 16) == 48_GBps);
  CHECK(pcie_rate("64.0 GT/s PCIe", 16) == 96_GBps);
  CHECK(pcie_rate("2.5 GT/s PCIe", 1) == BytesPerSecond(187'500'000));
  CHECK_FALSE(pcie_rate("", 16).has_value());
  CHECK_FALSE(pcie_rate("Unknown speed", 16).has_value());
}

TEST_CASE("the rate of an NVLink depends on the generation of its GPU") {
  CHECK(nvlink_rate(60) == 18_GBps);
  CHECK(nvlink_rate(70) == 20_GBps);
  CHECK(nvlink_rate(80) == 20_GBps);
  CHECK(nvlink_rate(86) == 12_GBps);
  CHECK(nvlink_rate(89) == 20_GBps);
  CHECK(nvlink_rate(90) == BytesPerSecond(20'600'000'000));
  CHECK(nvlink_rate(100) == BytesPerSecond(40'100'000'000));
  CHECK(nvlink_rate(103) == BytesPerSecond(40'100'000'000));
  CHECK(nvlink_rate(0) == 20_GBps);
}

TEST_CASE("the rate of an XGMI link depends on the generation of its GPU") {
  CHECK(xgmi_rate("gfx906", 90) == 24_GBps);
  CHECK(xgmi_rate("gfx908:sramecc+:xnack-", 90) == 24_GBps);
  CHECK(xgmi_rate("908", 90) == 24_GBps);
  CHECK(xgmi_rate("gfx90a", 90) == 36_GBps);
  CHECK(xgmi_rate("910", 90) == 36_GBps);
  CHECK(xgmi_rate("gfx942", 94) == 48_GBps);
  CHECK(xgmi_rate("gfx950", 95) == 48_GBps);
  CHECK(xgmi_rate("gfx1250", 125) == 64_GBps);
  CHECK(xgmi_rate("", 94) == 48_GBps);
  CHECK_FALSE(xgmi_rate("", 90).has_value());
  CHECK_FALSE(xgmi_rate("", 0).has_value());
  CHECK_FALSE(xgmi_rate("gfx1201", 120).has_value());
}

TEST_CASE("the rate between sockets depends on their CPUs") {
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 79) == 6_GBps);
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 85) == 10_GBps);
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 106) == 10_GBps);
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 143) == 22_GBps);
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 173) == 22_GBps);
  CHECK(socket_rate("x86_64", "GenuineIntel", 6, 207) == 40_GBps);
  CHECK(socket_rate("x86_64", "AuthenticAMD", 25, 17) == 16_GBps);
  CHECK(socket_rate("ppc64", "IBM", 0, 0) == 32_GBps);
  CHECK(socket_rate("arm64", "", 0, 0) == 6_GBps);
  CHECK_FALSE(socket_rate("x86_64", "", 6, 143).has_value());
  CHECK_FALSE(socket_rate("riscv64", "", 0, 0).has_value());
}

TEST_CASE("the rate of a NIC is its speed over 8000") {
  CHECK(network_rate(100'000) == 100_Gbps);
  CHECK(network_rate(400'000) == 50_GBps);
  CHECK(network_rate(kDefaultMbps) == 10_Gbps);
}

}  // namespace
}  // namespace weir::nccl
