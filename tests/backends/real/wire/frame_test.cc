#include "backends/real/wire/frame.h"

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("words read as they were written") {
  for (const Frame& frame : {Frame{}, Frame{Frame::Kind::kReady, MessageId(7), 3, Bytes(0), Duration(0)},
                             Frame{Frame::Kind::kData, MessageId(0), ~0ULL, Bytes(1LL << 40), Duration(0)}}) {
    const auto read = decode(encode(frame));
    REQUIRE(read);
    CHECK(*read == frame);
  }
}

TEST_CASE("no bytes are read as a word that could not be written") {
  Random random(1);
  int words = 0;
  for (int i = 0; i < 200'000; ++i) {
    FrameBytes bytes{};
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.between(0, 255));
    if (i % 2 == 0) bytes = {static_cast<std::byte>(random.between(0, 5))};  // more often a word
    const auto read = decode(bytes);
    if (!read) continue;
    ++words;
    CHECK(encode(*read) == bytes);
    CHECK(read->size >= Bytes(0));
  }
  CHECK(words > 0);
}

}  // namespace
}  // namespace weir::real
