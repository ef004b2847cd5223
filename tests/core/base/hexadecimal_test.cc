#include "core/base/hexadecimal.h"

#include <array>

#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("bytes become two digits each and parse back") {
  const std::array<std::byte, 3> bytes = {std::byte{0}, std::byte{0x7f}, std::byte{0xa5}};
  CHECK(hexadecimal(bytes) == "007fa5");
  CHECK(from_hexadecimal("007fa5") == std::vector<std::byte>(bytes.begin(), bytes.end()));
  CHECK(from_hexadecimal("")->empty());
  for (const char* wrong : {"0", "0g", "A5", " 5", "a5\n"}) {
    INFO(wrong);
    CHECK_FALSE(from_hexadecimal(wrong));
  }
}

}  // namespace
}  // namespace weir
