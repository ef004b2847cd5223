#include "backends/real/discovery/host_topology.h"

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/cluster/topology_file.h"
#include "core/formats/nccl/nccl_rates.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

constexpr Rates both(BytesPerSecond rate) { return {rate, rate}; }

const PcieLink kGen4 = {"16.0 GT/s PCIe", 16};
const PcieLink kGen5 = {"32.0 GT/s PCIe", 16};

DevicePlace place(const std::string& id, const std::string& above, int numa, const PcieLink& link) {
  DevicePlace place;
  place.id = id;
  place.above = above;
  place.numa = numa;
  place.own = place.link = link;
  return place;
}

HostParts::Gpu gpu(const DevicePlace& place, int capability) {
  HostParts::Gpu gpu;
  gpu.place = place;
  gpu.memory = 80_GB;
  gpu.capability = capability;
  return gpu;
}

HostParts::Nic nic(const std::string& name, const DevicePlace& place, std::optional<std::int64_t> mbps) {
  HostParts::Nic nic;
  nic.name = name;
  nic.place = place;
  nic.mbps = mbps;
  return nic;
}

HostParts host(int numas) {
  HostParts parts;
  parts.host = "box";
  parts.arch = "x86_64";
  parts.vendor = "AuthenticAMD";
  for (int i = 0; i < numas; ++i) {
    HostParts::Numa numa;
    numa.number = numa.package = i;
    numa.memory = Bytes(std::int64_t{64} << 30);
    numa.cores = 16;
    parts.numas.push_back(numa);
  }
  return parts;
}

Imported made(const HostParts& parts, const TopologyWishes& wishes = {}) {
  auto done = host_topology(parts, wishes);
  if (!done) FAIL(done.error().text);
  return *done;
}

GroupSpec machine(const HostParts& parts, const TopologyWishes& wishes = {}) {
  return made(parts, wishes).topology.groups.at(0);
}

bool remarked(const Imported& done, const std::string& part) {
  return std::any_of(done.warnings.begin(), done.warnings.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

/// Two sockets with a switch each. One switch has two GPUs and a NIC with two ports, the other has two GPUs.
HostParts pcie_box() {
  HostParts parts = host(2);
  parts.switches = {{place("0000:10:00.0", "", 0, kGen4)}, {place("0000:80:00.0", "", 1, kGen4)}};
  parts.gpus = {gpu(place("0000:12:00.0", "0000:10:00.0", 0, kGen4), 75),
                gpu(place("0000:13:00.0", "0000:10:00.0", 0, kGen4), 75),
                gpu(place("0000:82:00.0", "0000:80:00.0", 1, kGen4), 75),
                gpu(place("0000:83:00.0", "0000:80:00.0", 1, kGen4), 75)};
  for (const HostParts::Gpu& one : parts.gpus) parts.gpu_devices.push_back(one.place);
  parts.nics = {nic("eth0", place("0000:14:00.0", "0000:10:00.0", 0, kGen4), 100'000),
                nic("eth1", place("0000:14:00.1", "0000:10:00.0", 0, kGen4), 100'000)};
  return parts;
}

TEST_CASE("switches that devices share become switches, and a card's ports share its link", "[discovery]") {
  const GroupSpec group = machine(pcie_box());
  CHECK(group.name == "gpu");
  REQUIRE(group.switches.size() == 3);
  CHECK(group.switches[0] == SwitchSpec{"p0", "numa0", both(24_GBps), Rates(), {}});
  CHECK(group.switches[1] == SwitchSpec{"p1", "numa1", both(24_GBps), Rates(), {}});
  CHECK(group.switches[2].at == "p0");  // the card
  REQUIRE(group.gpus.size() == 2);
  CHECK(group.gpus[0].count == 2);
  CHECK(group.gpus[0].at == "p0");
  CHECK(group.gpus[0].rate == both(24_GBps));
  CHECK(group.gpus[1].at == "p1");
  REQUIRE(group.nics.size() == 1);
  CHECK(group.nics[0].count == 2);
  CHECK(group.nics[0].at == group.switches[2].name);
  CHECK(group.nics[0].rate == both(100_Gbps));
  REQUIRE(group.sockets.size() == 1);
  CHECK(group.sockets[0].rate == both(16_GBps));
  CHECK_FALSE(group.nvlink);
  CHECK(group.numa[1].cores == 16);
  CHECK(group.numa[1].memory == Bytes(std::int64_t{64} << 30));
}

TEST_CASE("a bridge above only one device is left out, and its limit applies to the device", "[discovery]") {
  HostParts parts = pcie_box();
  parts.gpus.resize(3);
  parts.switches[1].place.link = {"8.0 GT/s PCIe", 16};
  // One switch above another, each without further devices.
  parts.switches.push_back({place("0000:84:00.0", "0000:80:00.0", 1, kGen4)});
  parts.gpus[2].place.above = "0000:84:00.0";
  const GroupSpec group = machine(parts);
  CHECK(group.switches.size() == 2);  // p0 and the card
  REQUIRE(group.gpus.size() == 2);
  CHECK(group.gpus[1].at == "numa1");
  CHECK(group.gpus[1].rate == both(12_GBps));
}

TEST_CASE("the two halves of one of Broadcom's switches are one", "[discovery]") {
  HostParts parts = pcie_box();
  parts.switches[1].broadcom_upper = 5;
  parts.switches.push_back({place("0000:84:00.0", "0000:80:00.0", 1, kGen4), 0, 5});
  parts.switches.push_back({place("0000:88:00.0", "0000:80:00.0", 1, kGen4), 0, 5});
  parts.gpus[2].place.above = "0000:84:00.0";
  parts.gpus[3].place.above = "0000:88:00.0";
  const GroupSpec group = machine(parts);
  CHECK(group.switches.size() == 3);  // p0, p1 and the card
  REQUIRE(group.gpus.size() == 2);
  CHECK(group.gpus[1].at == "p1");
  CHECK(group.gpus[1].count == 2);
}

TEST_CASE("NVLinks to switches join all GPUs, at the summed rate of a GPU's links", "[discovery]") {
  HostParts parts = pcie_box();
  for (HostParts::Gpu& one : parts.gpus) {
    one.capability = 90;
    one.nvlinks.assign(18, {HostParts::Nvlink::Target::kSwitch, ""});
  }
  GroupSpec group = machine(parts);
  REQUIRE(group.nvlink);
  REQUIRE(group.nvlink->crossbar);
  CHECK(group.nvlink->crossbar->rate == both(BytesPerSecond(18 * nccl::nvlink_rate(90).value())));
  parts.gpus[1].nvlinks.resize(17);
  CHECK(remarked(made(parts), "others have less"));
  TopologyWishes wishes;
  wishes.user_values.nvlink_rate = 400_GBps;
  CHECK(machine(parts, wishes).nvlink->crossbar->rate == both(400_GBps));
}

TEST_CASE("NVLinks between GPUs become pairs with the sum of their rates", "[discovery]") {
  HostParts parts = pcie_box();
  const auto join = [&](std::size_t a, std::size_t b, int links) {
    for (int i = 0; i < links; ++i) {
      parts.gpus[a].nvlinks.push_back({HostParts::Nvlink::Target::kGpu, parts.gpus[b].place.id});
      parts.gpus[b].nvlinks.push_back({HostParts::Nvlink::Target::kGpu, parts.gpus[a].place.id});
    }
  };
  join(0, 1, 2);
  join(2, 3, 1);
  const GroupSpec group = machine(parts);
  REQUIRE(group.nvlink);
  CHECK_FALSE(group.nvlink->crossbar);
  REQUIRE(group.nvlink->pairs.size() == 2);
  CHECK(group.nvlink->pairs[0].between == std::vector{0, 1});
  CHECK(group.nvlink->pairs[0].rate == both(40_GBps));
  CHECK(group.nvlink->pairs[1].rate == both(20_GBps));
}

TEST_CASE("a lone GPU has no NVLinks", "[discovery]") {
  HostParts parts = host(1);
  parts.gpus = {gpu(place("0000:12:00.0", "", 0, kGen5), 90)};
  parts.gpus[0].nvlinks.assign(18, {HostParts::Nvlink::Target::kSwitch, ""});
  const GroupSpec group = machine(parts);
  CHECK_FALSE(group.nvlink);
  REQUIRE(group.gpus.size() == 1);
  CHECK(group.gpus[0].rate == both(48_GBps));
  CHECK(group.gpus[0].memory.count() == (std::int64_t{80'000'000'000} >> 20 << 20));
}

TEST_CASE("a virtual machine without GPUs is a CPU machine; its NIC's speed is assumed or given",
          "[discovery]") {
  HostParts parts = host(1);
  parts.nics = {nic("eth0", place("0000:00:03.0", "", 0, {}), std::nullopt)};
  const Imported done = made(parts);
  const GroupSpec& group = done.topology.groups[0];
  CHECK(group.name == "cpu");
  CHECK(done.topology.name == "box");
  CHECK(group.nics[0].rate == both(10_Gbps));
  CHECK_FALSE(group.nics[0].pcie.out.limited());
  CHECK(remarked(done, "eth0 reports no speed: assumed 10Gbps"));
  CHECK(remarked(done, "latency is taken as 5us"));
  TopologyWishes wishes;
  wishes.user_values.nic_rate = 25_Gbps;
  wishes.user_values.latency = 20_us;
  wishes.count = 4;
  wishes.name = "cloud";
  const Imported wished = made(parts, wishes);
  CHECK(wished.topology.groups[0].nics[0].rate == both(25_Gbps));
  CHECK(wished.topology.groups[0].count == 4);
  CHECK(wished.topology.network.latency == 20_us);
  CHECK(wished.topology.name == "cloud");
  CHECK_FALSE(remarked(wished, "eth0"));
}

TEST_CASE("NICs that cannot carry gradients are left out with a remark", "[discovery]") {
  HostParts parts = host(1);
  parts.nics = {nic("eth0", place("0000:01:00.0", "", 0, kGen4), 100'000),
                nic("eth1", place("0000:02:00.0", "", 0, kGen4), 100'000),
                nic("eth2", place("0000:03:00.0", "", 0, kGen4), 100'000),
                nic("usb0", place("", "", 0, {}), 100),
                nic("eno1", place("0000:05:00.0", "", 0, kGen4), 1'000)};
  parts.nics[1].up = false;
  parts.nics[2].kind = HostParts::Nic::Kind::kVirtualFunction;
  parts.nics[3].kind = HostParts::Nic::Kind::kUsb;
  const Imported done = made(parts);
  REQUIRE(done.topology.groups[0].nics.size() == 2);
  CHECK(done.topology.groups[0].nics[0].rate == both(100_Gbps));
  CHECK(done.topology.groups[0].nics[1].rate == both(1_Gbps));
  CHECK(remarked(done, "eth1 is down"));
  CHECK(remarked(done, "eth2 is a virtual function"));
  CHECK(remarked(done, "usb0 is on USB"));
  CHECK(remarked(done, "eno1 has 1 Gbps, a tenth or less"));
}

TEST_CASE("without a NIC one machine is a topology, but several need a given rate", "[discovery]") {
  const HostParts parts = host(1);
  CHECK(remarked(made(parts), "--nic-rate"));
  TopologyWishes wishes;
  wishes.count = 2;
  const auto refused = host_topology(parts, wishes);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, has_text("--nic-rate"));
  wishes.user_values.nic_rate = 10_Gbps;
  CHECK(machine(parts, wishes).nics.size() == 1);
}

TEST_CASE("a user's values override measured ones, and the source says which were measured", "[discovery]") {
  HostParts parts = host(1);
  parts.gpus = {gpu(place("0000:12:00.0", "", 0, kGen5), 90)};
  CHECK(remarked(made(parts), "--measure"));
  CHECK_THAT(made(parts).topology.source, has_text("nothing measured"));
  parts.numas[0].memory_rate = 90_GBps;
  parts.numas[0].sum_rate = SumRates{{{Dtype::kF32, 30_GBps}}, 20_GBps};
  parts.gpus[0].copies = both(52_GBps);
  TopologyWishes wishes;
  wishes.date = "2026-03-01";
  const Imported done = made(parts, wishes);
  const GroupSpec& group = done.topology.groups[0];
  CHECK(group.numa[0].memory_rate == 90_GBps);
  CHECK(group.numa[0].sum_rate.of(Dtype::kF32) == 30_GBps);
  CHECK(group.gpus[0].rate == both(52_GBps));
  CHECK_FALSE(remarked(done, "--measure"));
  CHECK_THAT(done.topology.source, has_text("discovered on box, 2026-03-01"));
  CHECK_THAT(done.topology.source, has_text("measured: sums, memory, copies of GPUs"));
  wishes.user_values.sum_rate = 5_GBps;
  CHECK(machine(parts, wishes).numa[0].sum_rate.of(Dtype::kF32) == 5_GBps);
}

TEST_CASE("NUMA nodes without CPUs are left out, and devices keep the right ones", "[discovery]") {
  HostParts parts = host(3);
  parts.numas[0].cores = 0;
  parts.gpus = {gpu(place("0000:12:00.0", "", 2, kGen5), 90)};
  const Imported done = made(parts);
  CHECK(done.topology.groups[0].numa.size() == 2);
  CHECK(done.topology.groups[0].gpus[0].at == "numa1");
  CHECK(remarked(done, "NUMA node 0 has no CPU"));
}

TEST_CASE("GPUs that no driver shows are left out, and a remark says why", "[discovery]") {
  HostParts parts = host(1);
  parts.gpu_devices = {place("0000:12:00.0", "", 0, kGen5)};
  parts.no_driver = "there is no driver";
  const Imported done = made(parts);
  CHECK(done.topology.groups[0].gpus.empty());
  CHECK(remarked(done, "the driver does not list 1 of 1 NVIDIA GPUs on PCI (there is no driver)"));
}

TEST_CASE("the result passes the checks of topology files", "[discovery]") {
  for (const HostParts& parts : {host(1), host(4), pcie_box()}) {
    CHECK(check_topology(made(parts).topology));
  }
}

}  // namespace
}  // namespace weir::real
