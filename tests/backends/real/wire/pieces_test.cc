// Messages sent in pieces: every byte is in one piece, and the message is complete when the last piece
// arrives.
#include "backends/real/wire/pieces.h"

#include <numeric>

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

std::vector<std::byte> bytes_of(const std::vector<std::span<std::byte>>& parts) {
  std::vector<std::byte> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_CASE("pieces are a message's bytes, one after the other, however these lie in memory") {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::byte> memory(static_cast<std::size_t>(random.between(1, 300)));
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random.between(0, 255));
    std::vector<std::span<std::byte>> parts;
    for (std::size_t at = 0; at < memory.size();) {
      const auto size = std::min(memory.size() - at, static_cast<std::size_t>(random.between(0, 90)));
      parts.push_back(std::span(memory).subspan(at, size));
      at += size;
    }
    const auto count = static_cast<int>(random.between(1, 5));
    const Bytes message(static_cast<std::int64_t>(memory.size()));
    std::vector<std::byte> all;
    for (int i = 0; i < count; ++i) {
      const std::vector<std::byte> own = bytes_of(cut(parts, {i, count}));
      CHECK(Bytes(static_cast<std::int64_t>(own.size())) == Piece{i, count}.size(message));
      CHECK(std::abs(static_cast<double>(own.size()) - static_cast<double>(memory.size()) / count) < 1.0);
      all.insert(all.end(), own.begin(), own.end());
    }
    CHECK(all == memory);
  }
}

TEST_CASE("the size of a message in pieces has no limit of 32 bits") {
  const Bytes message = 5_GB * 1000 + 1_B;
  Bytes all;
  for (int i = 0; i < 3; ++i) {
    CHECK(Piece{i, 3}.offset(message) == all);
    all += Piece{i, 3}.size(message);
  }
  CHECK(all == message);
}

TEST_CASE("a message has begun with its first piece and is done with its last, round after round") {
  const MessageId whole(0);
  const MessageId cut(1);
  Pieces pieces(2);
  pieces.cut(cut, 3);
  CHECK(pieces.ready(whole));
  CHECK(pieces.done(whole, Instant(5)) == Instant(5));
  for (int round = 0; round < 3; ++round) {
    CHECK_FALSE(pieces.ready(cut));
    CHECK_FALSE(pieces.ready(cut));
    CHECK(pieces.ready(cut));
    CHECK_FALSE(pieces.done(cut, Instant(20)));
    CHECK_FALSE(pieces.done(cut, Instant(10 + round)));
    CHECK(pieces.done(cut, Instant(30)) == Instant(10 + round));
  }
}

}  // namespace
}  // namespace weir::real
