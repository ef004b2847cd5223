#include "apps/weir/table.h"

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

}  // namespace
}  // namespace weir
