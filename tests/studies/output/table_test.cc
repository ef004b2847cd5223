#include "studies/output/table.h"

#include "tests/catch.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

TEST_CASE("columns are as wide as their widest cell, and no line ends in spaces") {
  CHECK(text({{"strategy", Side::kLeft}, {"time"}, {"binding", Side::kLeft}},
             {{"ring", "1.5 ms", "a long name"}, {"ps", "12.25 ms", ""}}) ==
        "strategy      time  binding\n"
        "ring        1.5 ms  a long name\n"
        "ps        12.25 ms\n");
}

TEST_CASE("a row that comes too late to widen its columns is shown whole") {
  const Table table({{"a", Side::kRight, 4}, {"b"}});
  CHECK(table.header() == "   a  b\n");
  CHECK(table.line({"123456", "7"}) == "123456  7\n");
}

TEST_CASE("titles of paths are short, differ, and begin with a name") {
  using Texts = std::vector<std::string>;
  CHECK(titles({"topology.groups.cpu.count", "partition_size", "model.message_overhead"}) ==
        Texts{"cpu.count", "partition_size", "model.message_overhead"});
  CHECK(titles({"topology.groups.gpu.nics.0.rate", "topology.groups.cpu.nics.0.rate"}) ==
        Texts{"gpu.nics.0.rate", "cpu.nics.0.rate"});
  CHECK(titles({"topology.groups.0.count", "trace.layers.0.forward"}) ==
        Texts{"groups.0.count", "layers.0.forward"});
  CHECK(titles({"topology.groups.gpu.nics.0.rate", "topology.groups.gpu.nics.1.rate"}) ==
        Texts{"nics.0.rate", "nics.1.rate"});
  CHECK(titles({"topology", "other.topology"}) == Texts{"topology", "other.topology"});
}

}  // namespace
}  // namespace weir
