// Files of NCCL and RCCL with links, rates and widths that are not NVIDIA's usual ones.
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

TEST_CASE("XGMI links between AMD's GPUs become pairs at RCCL's rate") {
  const Imported four = imported("xgmi-4");
  const GroupSpec& spec = four.topology.groups.at(0);
  CHECK(gpu_count(spec) == 4);
  REQUIRE(spec.nvlink.has_value());
  CHECK_FALSE(spec.nvlink->crossbar.has_value());
  REQUIRE(spec.nvlink->pairs.size() == 6);
  CHECK(spec.nvlink->pairs[0] == NvlinkPairSpec{{0, 1}, both(48_GBps), {}});
  CHECK_FALSE(warns(four, "left out"));
  const GroupSpec eight = machine("xgmi-2x4");
  CHECK(gpu_count(eight) == 8);
  CHECK(eight.numa.size() == 2);
  REQUIRE(eight.nvlink.has_value());
  REQUIRE(eight.nvlink->pairs.size() == 28);
  CHECK(eight.nvlink->pairs[27] == NvlinkPairSpec{{6, 7}, both(48_GBps), {}});
}

TEST_CASE("the rate of XGMI depends on the generation, and an unknown one is reported") {
  const auto two = [](const std::string& more) {
    return system_of(gpu_of("0:1:0.0", "<xgmi target=\"0:2:0.0\" count=\"2\" tclass=\"0x038000\"/>", more) +
                     gpu_of("0:2:0.0", "<xgmi target=\"0:1:0.0\" count=\"2\" tclass=\"0x038000\"/>", more));
  };
  const Imported known = imported_text(two("sm=\"90\" gcn=\"gfx90a\""));
  CHECK(known.topology.groups[0].nvlink.value().pairs.at(0) == NvlinkPairSpec{{0, 1}, both(72_GBps), {}});
  for (const char* more : {"sm=\"90\"", "sm=\"120\" gcn=\"gfx1201\"", ""}) {
    const Imported done = imported_text(two(more));
    CHECK_FALSE(done.topology.groups[0].nvlink.has_value());
    CHECK(warns(done, "joined to others over PCIe alone; --nvlink RATE joins all GPUs by a switch"));
  }
  const test::NcclFile file(two(""));
  NcclImport what{.files = {file.name()}};
  what.user_values.nvlink_rate = 100_GBps;
  CHECK(imported(what).topology.groups[0].nvlink.value().crossbar.value().rate == both(100_GBps));
  CHECK_FALSE(warns(imported(what), "over PCIe alone"));
}

TEST_CASE("accelerators of AMD are GPUs, also without <gpu>") {
  const std::string bare = "<pci busid=\"0:1:0.0\" class=\"0x120000\" vendor=\"0x1002\"/>";
  CHECK(gpu_count(imported_text(system_of(bare)).topology.groups[0]) == 1);
  const std::string other = "<pci busid=\"0:1:0.0\" class=\"0x120000\" vendor=\"0x8086\"/>";
  CHECK(warns(imported_text(system_of(other + gpu_of("0:2:0.0", ""))), "is not a switch, GPU or NIC"));
}

TEST_CASE("a width that Linux does not know is assumed as a missing one is") {
  const Imported done = imported("unknown-width");
  CHECK(done.topology.groups[0].gpus.at(0).rate == both(12_GBps));
  CHECK(warns(done, "link_width is 255, which stands for unknown: assumed 16, as NCCL does"));
  CHECK(warns(done, "link_speed is unknown to NCCL: assumed PCIe 3"));
}

TEST_CASE("rates and widths that do not exist are reported") {
  const Imported nic = imported("absurd-speed");
  CHECK(nic.topology.groups[0].nics.at(0).rate == both(BytesPerSecond(25'000'000'000'000)));
  CHECK(warns(nic, "<net speed> is 200000000 Mbps, and no NIC is that fast: kept as"));
  CHECK(warns(nic, "set the real rate with --nic-rate"));
  NcclImport what{.files = {data("absurd-speed")}};
  what.user_values.nic_rate = 200_Gbps;
  CHECK(imported(what).topology.groups[0].nics.at(0).rate == both(200_Gbps));
  CHECK(warns(imported(what), "from --nic-rate counts"));
  const auto of = [](const std::string& inside, const std::string& width = "16") {
    return imported_text(
        system_of("<pci busid=\"0:1:0.0\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" "
                  "link_width=\"" +
                  width + "\"><gpu sm=\"90\">" + inside + "</gpu></pci>"));
  };
  CHECK(warns(of("", "7"), "link_width is 7: PCIe has no such width; kept"));
  CHECK(of("", "12").warnings.size() < of("", "7").warnings.size());
  CHECK(warns(of("<nvlink count=\"900\" tclass=\"0x068000\"/>"), "no GPU with so many links is known"));
  CHECK(warns(of("<c2c bw=\"90000000\"/>"), "<c2c bw> times count is 90000000 MB/s: no such link is known"));
  CHECK(warns(imported_text(system_of("<nic><net name=\"a\" speed=\"100\" latency=\"2000000\"/></nic>")),
              "<net latency> is 2000000 microseconds"));
}

}  // namespace
}  // namespace weir
