#include "core/base/units.h"

#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("bytes over a rate is a duration, rounded up to a whole nanosecond") {
  CHECK((1_GB / 1_GBps).ns() == 1'000'000'000);
  CHECK((1_B / 1_GBps).ns() == 1);
  CHECK((Bytes(1) / BytesPerSecond(3)).ns() == 333'333'334);
  CHECK((0_B / 1_GBps).ns() == 0);
}

TEST_CASE("bytes over a rate does not overflow on the way") {
  const Bytes exbibyte(std::int64_t{1} << 60);
  CHECK((exbibyte / BytesPerSecond(std::int64_t{1} << 40)).ns() == (std::int64_t{1} << 20) * 1'000'000'000);
}

TEST_CASE("an unlimited rate takes no time and stays unlimited") {
  CHECK((1_GB / BytesPerSecond::unlimited()).ns() == 0);
  CHECK_FALSE((BytesPerSecond::unlimited() + 1_GBps).limited());
  CHECK_FALSE((BytesPerSecond::unlimited() / 2).limited());
  CHECK((1_Gbps + 1_GBps).value() == 1'125'000'000);
}

}  // namespace
}  // namespace weir
