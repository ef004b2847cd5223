#include "core/formats/nccl/nccl_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/random.h"
#include "core/cluster/topology_file.h"
#include "core/formats/topology_text.h"
#include "tests/catch.h"
#include "tests/core/formats/nccl_files.h"

namespace weir {
namespace {

using namespace weir::literals;
using test::both;
using test::data;
using test::gpu_of;
using test::imported;
using test::imported_text;
using test::machine;
using test::system_of;
using test::warns;
using File = test::NcclFile;

/// The error, with "F" in place of the file's name.
std::string refusal(const std::string& text, NcclImport what = {}) {
  const File file(text);
  what.files = {file.name()};
  const auto done = import_nccl(what);
  if (done) return "accepted";
  std::string error = done.error().text;
  for (std::size_t at = error.find(file.name()); at != std::string::npos; at = error.find(file.name())) {
    error.replace(at, file.name().size(), "F");
  }
  return error;
}

TEST_CASE("GPUs behind PCIe switches are attached to them, with each link's own rate") {
  const GroupSpec spec = machine("pcie-2x4");
  CHECK(spec.name == "gpu");
  REQUIRE(spec.numa.size() == 2);
  CHECK(spec.sockets == std::vector<SocketSpec>{{{0, 1}, both(10_GBps), {}}});
  REQUIRE(spec.switches.size() == 2);
  CHECK(spec.switches[0].at == "numa0");
  CHECK(spec.switches[1].at == "numa1");
  CHECK(spec.switches[1].rate == both(12_GBps));
  REQUIRE(spec.gpus.size() == 2);
  CHECK(spec.gpus[0].count == 4);
  CHECK(spec.gpus[0].at == "p0");
  CHECK(spec.gpus[1].at == "p1");
  CHECK(spec.gpus[1].rate == both(12_GBps));
  CHECK_FALSE(spec.nvlink.has_value());
  REQUIRE(spec.nics.size() == 1);
  CHECK(spec.nics[0].at == "numa0");
  CHECK(spec.nics[0].rate == both(100_Gbps));
  CHECK(spec.nics[0].pcie == both(12_GBps));
}

TEST_CASE("NVLinks between GPUs become pairs with the rates added up") {
  const Imported done = imported("v100-nvlink");
  const GroupSpec& spec = done.topology.groups.at(0);
  CHECK(spec.switches.size() == 4);
  CHECK(spec.sockets.at(0).rate == both(6_GBps));
  REQUIRE(spec.nvlink.has_value());
  CHECK_FALSE(spec.nvlink->crossbar.has_value());
  REQUIRE(spec.nvlink->pairs.size() == 16);
  CHECK(spec.nvlink->pairs[0] == NvlinkPairSpec{{0, 1}, both(20_GBps), {}});
  CHECK(spec.nvlink->pairs[2] == NvlinkPairSpec{{0, 3}, both(40_GBps), {}});
  CHECK(spec.nvlink->pairs[15] == NvlinkPairSpec{{6, 7}, both(40_GBps), {}});
  CHECK(warns(done, "joins 16 of 28 pairs of GPUs by NVLink"));
  CHECK(warns(done, "--nvlink 960Gbps"));
}

TEST_CASE("NVLinks to NVSwitches add up to the rate of a switch") {
  const GroupSpec spec = machine("h100-nvswitch");
  CHECK(spec.sockets.at(0).rate == both(22_GBps));
  CHECK(spec.switches.size() == 8);
  CHECK(spec.switches[7].rate == both(48_GBps));
  REQUIRE(spec.nvlink.has_value());
  REQUIRE(spec.nvlink->crossbar.has_value());
  CHECK(spec.nvlink->crossbar->rate == both(BytesPerSecond(370'800'000'000)));  // 18 x 20.6 GB/s
  REQUIRE(spec.nics.size() == 8);
  CHECK(spec.nics[7].at == "p7");
  CHECK(spec.nics[7].rate == both(400_Gbps));
  CHECK(spec.nics[7].pcie == both(48_GBps));
}

TEST_CASE("a warning names everything that a dump lacks") {
  const Imported done = imported("h100-nvswitch");
  CHECK(done.topology.network.latency == 5_us);
  REQUIRE(done.warnings.size() == 4);
  CHECK(warns(done, "h100-nvswitch.xml: lists only what NCCL's job used; GPUs: 8, NICs: 8"));
  CHECK(warns(done, "has no memory rate: assumed unlimited"));
  CHECK(warns(done, "has no sum rate: assumed unlimited"));
  CHECK(warns(done, "has no network latency: assumed 5us"));
  NcclImport what{.files = {data("h100-nvswitch")}};
  what.user_values.memory_rate = 300_GBps;
  what.user_values.sum_rate = 100_GBps;
  what.user_values.latency = 3_us;
  const Imported with_values = imported(what);
  CHECK(with_values.warnings.size() == 1);
  CHECK(with_values.topology.network.latency == 3_us);
  CHECK(with_values.topology.groups[0].numa[1].memory_rate == 300_GBps);
  CHECK(with_values.topology.groups[0].numa[1].sum_rate.of(Dtype::kF16) == 100_GBps);
}

TEST_CASE("files that clouds provide have GPUs and NICs by their class") {
  const Imported done = imported("cloud");
  const GroupSpec& spec = done.topology.groups.at(0);
  CHECK(gpu_count(spec) == 8);
  CHECK(nic_count(spec) == 8);
  CHECK(spec.sockets.at(0).rate == both(16_GBps));
  CHECK(spec.gpus.at(3).at == "p3");
  CHECK(spec.gpus.at(3).rate == both(24_GBps));
  CHECK(spec.nics.at(0).rate == both(10_Gbps));
  CHECK_FALSE(spec.nvlink.has_value());
  CHECK(warns(done,
              "cloud.xml:6: this NIC has no <net> with a speed: assumed 10Gbps, as NCCL does; "
              "set the real rate with --nic-rate (here and 7 more times)"));
  CHECK(warns(done, "whose NVLinks are unknown"));
  CHECK_FALSE(warns(done, "job used"));
  NcclImport what{.files = {data("cloud")}};
  what.user_values.nic_rate = 200_Gbps;
  what.user_values.nvlink_rate = 240_GBps;
  const GroupSpec with_values = imported(what).topology.groups.at(0);
  CHECK(with_values.nics.at(0).rate == both(200_Gbps));
  CHECK(with_values.nvlink.value().crossbar.value().rate == both(240_GBps));
}

TEST_CASE("hidden speeds are assumed as NCCL does, with warnings") {
  const Imported done = imported("hidden-speeds");
  const GroupSpec& spec = done.topology.groups.at(0);
  CHECK(spec.sockets.empty());
  CHECK(spec.switches.at(0).rate == both(BytesPerSecond(187'500'000)));
  REQUIRE(spec.gpus.size() == 2);
  CHECK(spec.gpus[0].rate == both(12_GBps));  // no speed, no width
  CHECK(spec.gpus[1].rate == both(6_GBps));   // x8 of an unknown speed
  CHECK(spec.nics.at(0).pcie == both(12_GBps));
  CHECK(spec.nics.at(0).rate == both(10_Gbps));
  CHECK(warns(done, "hidden-speeds.xml:5: link_width is missing or 0: assumed 16"));
  CHECK(warns(done, "hidden-speeds.xml:5: link_speed is missing or empty: assumed PCIe 3"));
  CHECK(warns(done, "hidden-speeds.xml:8: link_speed is unknown to NCCL"));
  CHECK(warns(done, "hidden-speeds.xml:14: <net> has no speed: assumed 10Gbps"));
  CHECK(warns(done, "hidden-speeds.xml:4: this switch has 1.5Gbps upwards, but GPUs with 96Gbps behind it"));
}

TEST_CASE("ports of one card share its PCIe link") {
  const Imported done = imported("two-ports");
  const GroupSpec& spec = done.topology.groups.at(0);
  CHECK(spec.sockets.at(0).rate == both(40_GBps));
  REQUIRE(spec.switches.size() == 2);
  CHECK(spec.switches[0].name == "card0");
  CHECK(spec.switches[0].rate == both(24_GBps));
  CHECK(spec.switches[1].rate == both(12_GBps));
  REQUIRE(spec.nics.size() == 4);
  CHECK(spec.nics[0].count == 2);
  CHECK(spec.nics[0].at == "card0");
  CHECK(spec.nics[0].rate == both(100_Gbps));
  CHECK_FALSE(spec.nics[0].pcie.out.limited());
  CHECK(spec.nics[1].rate == both(50_Gbps));
  CHECK(spec.nics[2].rate == both(25_Gbps));
  CHECK(spec.nics[3].at == "numa0");
  CHECK(warns(done, "two-ports.xml:29: the NIC eth0 is listed a second time: left out"));
}

TEST_CASE("NUMA nodes are numbered by their ids, and every two are joined") {
  const GroupSpec spec = machine("amd-4-numa");
  REQUIRE(spec.numa.size() == 4);
  REQUIRE(spec.sockets.size() == 6);
  CHECK(spec.sockets[5] == SocketSpec{{2, 3}, both(16_GBps), {}});
  REQUIRE(spec.gpus.size() == 4);
  CHECK(spec.gpus[0].at == "numa0");
  CHECK(spec.gpus[3].at == "numa3");
  CHECK(spec.nics.at(0).at == "numa2");
  CHECK(spec.nics.at(0).rate == both(200_Gbps));
  REQUIRE(spec.nvlink.has_value());
  CHECK(spec.nvlink->pairs.size() == 6);
  CHECK(spec.nvlink->pairs[0].rate == both(80_GBps));
}

TEST_CASE("equal machines become one group, and different ones a group each") {
  NcclImport what{.files = {data("h100-nvswitch"), data("pcie-2x4"), data("h100-nvswitch")}, .name = "mine"};
  const Topology topology = imported(what).topology;
  CHECK(topology.name == "mine");
  REQUIRE(topology.groups.size() == 2);
  CHECK(topology.groups[0].name == "gpu-1");
  CHECK(topology.groups[0].count == 2);
  CHECK(topology.groups[1].name == "gpu-2");
  CHECK(topology.groups[1].count == 1);
  what.count = 4;
  CHECK(imported(what).topology.groups[0].count == 8);
}

TEST_CASE("an imported topology reads back from its text") {
  for (const char* name : {"pcie-2x4", "v100-nvlink", "h100-nvswitch", "cloud", "hidden-speeds", "two-ports",
                           "amd-4-numa", "xgmi-2x4", "unknown-width", "absurd-speed"}) {
    const Topology topology = imported(name).topology;
    const auto document = parse_document(topology_text(topology), name);
    REQUIRE(document);
    const auto back = read_topology(*document);
    REQUIRE(back);
    CHECK(*back == topology);
  }
}

TEST_CASE("a GPU attached to its CPU by C2C or NVLink has that link") {
  const Imported c2c = imported_text(system_of(gpu_of("0:1:0.0", "<c2c bw=\"44712\" count=\"10\"/>")));
  CHECK(c2c.topology.groups[0].gpus.at(0).rate == both(BytesPerSecond(447'120'000'000)));
  CHECK(warns(c2c, "attached to its CPU"));
  const Imported power = imported_text(system_of(
      gpu_of("0:1:0.0", "<nvlink target=\"0:2:0.0\" count=\"3\" tclass=\"0x068001\"/>", "sm=\"70\"")));
  CHECK(power.topology.groups[0].gpus.at(0).rate == both(60_GBps));
}

TEST_CASE("NVLinks that do not fit the machine cause warnings") {
  const Imported lone = imported_text(
      system_of(gpu_of("0:1:0.0", "<nvlink target=\"0:9:0.0\" count=\"3\" tclass=\"0x030200\"/>")));
  CHECK(warns(lone, "leads to no other GPU"));
  CHECK_FALSE(lone.topology.groups[0].nvlink.has_value());
  const Imported uneven = imported_text(
      system_of(gpu_of("0:1:0.0", "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>") +
                gpu_of("0:2:0.0", "<nvlink target=\"fffffff:ffff:ff\" count=\"17\" tclass=\"0x068000\"/>") +
                gpu_of("0:3:0.0", "")));
  CHECK(uneven.topology.groups[0].nvlink->crossbar->rate == both(BytesPerSecond(350'200'000'000)));
  CHECK(warns(uneven, "others have less: all are assumed to have 350.2GB/s"));
  CHECK(warns(uneven, "no link to the NVSwitch, but others have"));
  const Imported half = imported_text(system_of(
      gpu_of("0:1:0.0", "<nvlink target=\"0:2:0.0\" count=\"2\" tclass=\"0x030200\"/>", "sm=\"70\"") +
      gpu_of("0:2:0.0", "")));
  CHECK(half.topology.groups[0].nvlink->pairs.at(0) == NvlinkPairSpec{{0, 1}, both(40_GBps), {}});
  CHECK(warns(half, "only one of the two GPUs lists this NVLink"));
}

TEST_CASE("the two levels of a Broadcom switch become one, as in NCCL") {
  const std::string level =
      " class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\" vendor=\"0x1000\" "
      "device=\"0xc030\" subsystem_vendor=\"0x1000\" subsystem_device=\"";
  const std::string text = system_of("<pci busid=\"0:1:0.0\"" + level + "0x0096\"><pci busid=\"0:2:0.0\"" +
                                     level + "0x1096\">" + gpu_of("0:3:0.0", "") + "</pci></pci>");
  const GroupSpec spec = imported_text(text).topology.groups.at(0);
  CHECK(spec.switches.size() == 1);
  CHECK(spec.gpus.at(0).at == "p0");
}

TEST_CASE("devices beyond the limit for one entry of a topology take several entries") {
  std::string many;
  for (int i = 0; i < 130; ++i) many += fmt::format("<pci busid=\"{:x}:0\" class=\"0x0302\"/>", i + 16);
  for (int i = 0; i < 130; ++i) many += fmt::format("<pci busid=\"{:x}:0\" class=\"0x0200\"/>", i + 1024);
  const Topology topology = imported_text(system_of(many)).topology;
  CHECK(topology.groups[0].gpus.size() == 2);
  CHECK(topology.groups[0].nics.size() == 2);
  CHECK(read_topology(*parse_document(topology_text(topology), "many")).has_value());
}

TEST_CASE("hosts that share a file become machines") {
  std::string text = "<system>";
  for (const char* host : {"0xa", "0xb", "0xa"}) {
    text += fmt::format(
        "<cpu host_hash=\"{}\" numaid=\"{}\" arch=\"arm64\">{}<nic><net name=\"n\" speed=\"100\" "
        "latency=\"2.5\"/></nic></cpu>",
        host, text.size(), gpu_of(fmt::format("0:{}:0.0", text.size()), ""));
  }
  const Imported done = imported_text(text + "</system>");
  REQUIRE(done.topology.groups.size() == 2);
  CHECK(done.topology.groups[0].numa.size() == 2);
  CHECK(done.topology.groups[1].numa.size() == 1);
  CHECK(done.topology.network.latency == Duration(2500));
  CHECK(warns(done, "2 machines by host_hash"));
}

TEST_CASE("each of several machines needs a NIC, or a rate for one") {
  const std::string text = system_of(gpu_of("0:1:0.0", ""));
  CHECK(refusal(text) == "accepted");
  CHECK(refusal(text, {.count = 2}) ==
        "F: there is no NIC, but each of 2 machines needs one; NCCL lists NICs if a job spans machines; "
        "--nic-rate RATE adds one at numa0");
  NcclImport what{.count = 2};
  what.user_values.nic_rate = 25_Gbps;
  CHECK(refusal(text, what) == "accepted");
  CHECK(refusal(text, {.count = 4097}).find("F: 4097 equal machines; a group can have at most 4096") == 0);
}

TEST_CASE("the error for a broken topology of NCCL names the line") {
  CHECK(refusal("<system version=\"1\">\n") == "F:2: this is not XML: no element found");
  CHECK(refusal("<system>\n<cpu numaid=\"0\">\n</system>") == "F:3: this is not XML: mismatched tag");
  CHECK(refusal("\n<graphs version=\"1\"/>") ==
        "F:2: the outermost element is <graphs>; expected <system>, as in a topology; try the file of "
        "NCCL_TOPO_DUMP_FILE, not that of NCCL_GRAPH_DUMP_FILE");
  CHECK(refusal("<system/>") == "F:1: <system> has no <cpu>, so there is no machine");
  CHECK(refusal("<system>\n<pci/></system>") ==
        "F:2: <pci> is inside <system>, where NCCL has none\n"
        "F:1: <system> has no <cpu>, so there is no machine");
  CHECK(refusal(system_of("<nic>\n<gpu/></nic>")) == "F:4: <gpu> is inside <nic>, where NCCL has none");
  CHECK(refusal("<system><cpu numaid=\"0\"/>\n<cpu numaid=\"0\"/></system>") ==
        "F:2: a second <cpu> of this machine has numaid 0");
  CHECK(refusal(system_of("<nic><net name=\"a\" speed=\"fast\"/></nic>"))
            .find("F:3: <net speed=\"fast\">: expected a whole number from") == 0);
  CHECK(refusal(system_of("<nic><net name=\"a\" latency=\"-3\"/></nic>"))
            .find("F:3: <net latency>: expected") == 0);
  CHECK(refusal(system_of("<pci class=\"0x0302\" link_width=\"99999999999999999999\"/>"))
            .find("F:3: <pci link_width=\"99999999999999999999\">: expected a whole number from -1 to 32") ==
        0);
  CHECK(
      refusal(system_of("<pci class=\"0x0302\" link_width=\"" + std::string(100'000, '1') + "\"/>")).size() <
      200);
  std::string many;
  for (int i = 0; i < 200; ++i) many += fmt::format("<cpu numaid=\"{}\"/>", i);
  CHECK(refusal("<system>" + many + "</system>") ==
        "F:1: this machine has more than 128 <cpu> or 1000 PCIe switches");
  for (int i = 0; i < 20'000; ++i) many += "<x/>";
  CHECK(refusal("<system>" + many + "</system>") ==
        "F: more than 20000 elements; machines have a few hundred");
  const auto missing = import_nccl({.files = {"no/such.xml"}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text.find("no/such.xml") == 0);
}

TEST_CASE("unknown elements are left out with a warning") {
  const Imported done = imported_text(system_of("<dev x=\"1\"><gpu/></dev>" + gpu_of("0:1:0.0", "")));
  CHECK(warns(done, "<dev> in <cpu> is unknown: left out"));
  CHECK(gpu_count(done.topology.groups[0]) == 1);
}

TEST_CASE("broken files give a topology or an error") {
  for (const char* name : {"v100-nvlink", "h100-nvswitch", "two-ports", "hidden-speeds", "xgmi-4"}) {
    const std::string whole = *read_text(data(name));
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Random random(seed);
      std::string text = whole;
      for (int i = 0; i < 3; ++i) {
        const auto at =
            static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
        if (random.between(0, 1) == 0) {
          text.erase(at, static_cast<std::size_t>(random.between(1, 40)));
        } else {
          text[at] = static_cast<char>(random.between(' ', '~'));
        }
      }
      const File file(text);
      const auto done = import_nccl({.files = {file.name()}, .count = 2});
      CHECK((done ? check_topology(done->topology).has_value() : !done.error().text.empty()));
    }
  }
}

}  // namespace
}  // namespace weir
