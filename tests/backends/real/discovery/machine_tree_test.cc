#include "backends/real/discovery/machine_tree.h"

#include <algorithm>

#include "backends/real/discovery/nvml.h"
#include "tests/backends/real/discovery/fake_sysfs.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

HostParts read(const std::string& sysfs) {
  auto parts =
      read_machine({std::string(WEIR_SOURCE_DIR) + "/tests/backends/real/discovery/two-sockets.xml", sysfs});
  if (!parts) FAIL(parts.error().text);
  return *parts;
}

const HostParts::Nic& nic(const HostParts& parts, const std::string& name) {
  const auto found = std::find_if(parts.nics.begin(), parts.nics.end(),
                                  [&](const HostParts::Nic& one) { return one.name == name; });
  REQUIRE(found != parts.nics.end());
  return *found;
}

TEST_CASE("NUMA nodes have the memory, cores and sockets that hwloc reports", "[discovery]") {
  const HostParts parts = read("/nowhere");
  CHECK(parts.host == "two-sockets");
  CHECK(parts.arch == "x86_64");
  CHECK(parts.vendor == "GenuineIntel");
  CHECK(parts.family == 6);
  CHECK(parts.model == 143);
  REQUIRE(parts.numas.size() == 2);
  CHECK(parts.numas[0].memory == Bytes(std::int64_t{256} << 30));
  for (int i = 0; i < 2; ++i) {
    CHECK(parts.numas[static_cast<std::size_t>(i)].number == i);
    CHECK(parts.numas[static_cast<std::size_t>(i)].package == i);
    CHECK(parts.numas[static_cast<std::size_t>(i)].cores == 2);
  }
}

TEST_CASE("devices belong to the switches above them, without ports of CPUs and switches", "[discovery]") {
  const HostParts parts = read("/nowhere");
  REQUIRE(parts.switches.size() == 2);
  CHECK(parts.switches[0].place.id == "00ab:3a:00.0");
  CHECK(parts.switches[0].place.above.empty());
  CHECK(parts.switches[0].place.numa == 0);
  CHECK(parts.switches[1].place.id == "00ab:ab:00.0");
  REQUIRE(parts.gpu_devices.size() == 4);
  CHECK(parts.gpu_devices[0].id == "00ab:3c:00.0");
  CHECK(parts.gpu_devices[0].above == "00ab:3a:00.0");
  CHECK(parts.gpu_devices[2].above.empty());
  CHECK(parts.gpu_devices[2].numa == 1);
  CHECK(parts.gpu_devices[3].above == "00ab:ab:00.0");
  CHECK(nic(parts, "ens1f1np1").place.id == "00ab:3e:00.1");
  CHECK(nic(parts, "ens1f1np1").place.above == "00ab:3a:00.0");
  CHECK(nic(parts, "ens1f0np0").full_name == "MT2892 Family [ConnectX-6 Dx]");
}

TEST_CASE("a PCIe link has the fastest speed that both the device and the port above support",
          "[discovery]") {
  const FakeSysfs sysfs;
  sysfs.pci("00ab:39:00.0", "32.0 GT/s PCIe", "16");
  sysfs.pci("00ab:3a:00.0", "16.0 GT/s PCIe", "16");
  sysfs.pci("00ab:3b:00.0", "32.0 GT/s PCIe", "8");
  sysfs.pci("00ab:3c:00.0", "16.0 GT/s PCIe", "16");
  sysfs.write("bus/pci/devices/00ab:3c:00.0/current_link_width", "4");
  sysfs.pci("00ab:3b:01.0", "Unknown", "255");
  sysfs.pci("00ab:3d:00.0", "2.5 GT/s PCIe", "16");
  const HostParts parts = read(sysfs.root());
  CHECK(parts.switches[0].place.link == PcieLink{"16.0 GT/s PCIe", 16});
  CHECK(parts.gpu_devices[0].own == PcieLink{"16.0 GT/s PCIe", 16});
  CHECK(parts.gpu_devices[0].link == PcieLink{"16.0 GT/s PCIe", 8});
  CHECK(parts.gpu_devices[0].lanes_now == 4);
  CHECK(parts.gpu_devices[1].link == PcieLink{"2.5 GT/s PCIe", 16});
  CHECK(parts.gpu_devices[2].link == PcieLink());
}

TEST_CASE("halves of Broadcom's switches are recognized by their ids", "[discovery]") {
  const FakeSysfs sysfs;
  const std::string folder = "bus/pci/devices/00ab:3a:00.0/";
  sysfs.write(folder + "vendor", "0x1000");
  sysfs.write(folder + "device", "0xc030");
  sysfs.write(folder + "subsystem_vendor", "0x1000");
  sysfs.write(folder + "subsystem_device", "0x1004");
  const HostParts parts = read(sysfs.root());
  CHECK(parts.switches[0].broadcom_lower == 5);
  CHECK(parts.switches[0].broadcom_upper == 0);
  CHECK(parts.switches[1].broadcom_lower == 0);
}

TEST_CASE("interfaces report speed, state, kind and driver", "[discovery]") {
  const FakeSysfs sysfs;
  sysfs.net("ens1f0np0", "up", "100000");
  sysfs.net("ens1f1np1", "unknown", "-1");
  sysfs.net("eno1", "down", "65535");
  sysfs.link("class/net/ens1f0np0/device", "devices/pci00ab:39/00ab:3e:00.0");
  sysfs.link("devices/pci00ab:39/00ab:3e:00.0/driver", "bus/pci/drivers/mlx5_core");
  sysfs.link("class/net/ens1f1np1/device", "devices/pci00ab:39/00ab:3e:00.1");
  sysfs.link("devices/pci00ab:39/00ab:3e:00.1/physfn", "devices/pci00ab:39/00ab:3e:00.0");
  sysfs.link("class/net/usb0/device", "devices/pci00ab:16/00ab:16:1d.0/usb1/1-1");
  const HostParts parts = read(sysfs.root());
  CHECK(nic(parts, "ens1f0np0").mbps == 100'000);
  CHECK(nic(parts, "ens1f0np0").up);
  CHECK(nic(parts, "ens1f0np0").mtu == 9000);
  CHECK(nic(parts, "ens1f0np0").driver == "mlx5_core");
  CHECK(nic(parts, "ens1f0np0").kind == HostParts::Nic::Kind::kPort);
  CHECK_FALSE(nic(parts, "ens1f1np1").mbps);
  CHECK(nic(parts, "ens1f1np1").up);
  CHECK(nic(parts, "ens1f1np1").kind == HostParts::Nic::Kind::kVirtualFunction);
  CHECK_FALSE(nic(parts, "eno1").up);
  CHECK_FALSE(nic(parts, "eno1").mbps);
  CHECK(nic(parts, "usb0").kind == HostParts::Nic::Kind::kUsb);
}

TEST_CASE("InfiniBand NICs are ports, Ethernet NICs are interfaces", "[discovery]") {
  const FakeSysfs sysfs;
  sysfs.net("ibp177s0", "down", "-1");
  sysfs.write("class/infiniband/mlx5_2/ports/1/link_layer", "InfiniBand");
  sysfs.write("class/infiniband/mlx5_2/ports/1/state", "4: ACTIVE");
  sysfs.write("class/infiniband/mlx5_2/ports/1/rate", "400 Gb/sec (4X NDR)");
  sysfs.write("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
  const HostParts parts = read(sysfs.root());
  const HostParts::Nic& port = nic(parts, "mlx5_2 port 1");
  CHECK(port.mbps == 400'000);
  CHECK(port.up);
  CHECK(port.infiniband);
  CHECK(port.place.numa == 1);
  for (const HostParts::Nic& one : parts.nics) CHECK(one.name != "ibp177s0");
  CHECK_FALSE(nic(parts, "ens1f0np0").infiniband);
}

TEST_CASE("a file that is not hwloc's is refused", "[discovery]") {
  const FakeSysfs folder;
  folder.write("broken.xml", "<nothing>");
  const auto parts = read_machine({folder.root() + "/broken.xml", "/nowhere"});
  REQUIRE_FALSE(parts);
  CHECK_THAT(parts.error().text, has_text("broken.xml"));
}

TEST_CASE("this host can be read", "[discovery]") {
  const auto parts = read_machine();
  REQUIRE(parts);
  CHECK_FALSE(parts->host.empty());
  REQUIRE_FALSE(parts->numas.empty());
  CHECK(parts->numas[0].memory > Bytes(0));
  for (const HostParts::Nic& one : parts->nics) CHECK(one.name != "lo");
}

TEST_CASE("GPUs get their places from PCI by id, or else from NVML", "[discovery]") {
  HostParts parts;
  DevicePlace place;
  place.id = "00ab:3c:00.0";
  place.numa = 1;
  place.own = {"32.0 GT/s PCIe", 16};
  place.link = {"32.0 GT/s PCIe", 8};
  parts.gpu_devices = {place};
  NvmlReading reading;
  reading.driver = "550.54.15";
  HostParts::Gpu gpu;
  gpu.place.id = "00ab:3c:00.0";
  gpu.place.own = gpu.place.link = {"16.0 GT/s PCIe", 16};
  reading.gpus = {gpu, gpu};
  reading.gpus[1].place.id = "00ab:99:00.0";
  add_gpus(reading, parts);
  REQUIRE(parts.gpus.size() == 2);
  CHECK(parts.gpus[0].place.numa == 1);
  CHECK(parts.gpus[0].place.link == PcieLink{"32.0 GT/s PCIe", 8});
  CHECK(parts.gpus[1].place.numa == -1);
  CHECK(parts.gpus[1].place.link == PcieLink{"16.0 GT/s PCIe", 16});
  CHECK(parts.driver == "550.54.15");
}

}  // namespace
}  // namespace weir::real
