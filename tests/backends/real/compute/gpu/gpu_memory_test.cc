// GPU memory as other devices access it.
#include "backends/real/memory/gpus.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

TEST_CASE("GPU memory is handed to other devices, wherever in its pages it begins") {
  const auto gpus = Gpus::open({0});
  REQUIRE(gpus);
  for (const Bytes size : {1_B, 300_KB, 300_MB}) {
    const auto memory = (*gpus)->allocate(0, size);
    REQUIRE(memory);
    const auto handed = Gpus::dma_buf({*memory, static_cast<std::size_t>(size.count())});
    if (!handed) {
      WARN("this host's driver hands out none, so nothing was tested: " << handed.error().text);
      return;
    }
    CHECK(handed->descriptor.valid());
    CHECK(handed->offset < 4096);
  }
  CHECK((*gpus)->see_writes(0));
}

}  // namespace
}  // namespace weir::real
