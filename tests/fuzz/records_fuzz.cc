// Decodes sealed records from made-up bytes or bytes changed in transit. The first byte of an input, times
// 16, is the number of bytes to seal. Then come edits of three bytes each: the place (two bytes, modulo the
// sealed size) and the value to add there. An edit beyond the last byte appends.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/real/wire/stream.h"
#include "core/base/check.h"
#include "tests/fuzz/input.h"

namespace weir::real {
namespace {

constexpr std::size_t kUnit = 16;

struct Ends {
  Descriptor here;
  Descriptor there;
};

Ends connection() {
  std::array<int, 2> ends{};
  WEIR_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

SealKeys keys() {
  SealKeys keys{};
  keys.out.fill(std::byte{1});
  keys.in.fill(std::byte{1});
  return keys;
}

iovec place(std::vector<std::byte>& bytes) { return {bytes.data(), bytes.size()}; }

// The bytes that a stream puts on the wire for these bytes, in records of at least kUnit.
std::vector<std::byte> sealed(std::vector<std::byte>& plain) {
  Ends ends = connection();
  Stream stream(std::move(ends.here));
  stream.seal(keys());
  for (std::size_t at = 0; at < plain.size();) {
    const iovec piece = {&plain[at], std::min(kUnit * (1 + at / kUnit), plain.size() - at)};
    at += stream.send({&piece, 1}).value();
  }
  std::vector<std::byte> wire(std::size_t{1} << 16);
  const ssize_t size = ::recv(ends.there.number(), wire.data(), wire.size(), 0);
  wire.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return wire;
}

void edit(std::vector<std::byte>& wire, std::span<const std::uint8_t> edits) {
  const std::size_t end = wire.size() + 1;
  for (; edits.size() >= 3; edits = edits.subspan(3)) {
    const std::size_t at = (std::size_t{edits[0]} << 8 | edits[1]) % end;
    if (at + 1 == end) {
      wire.push_back(std::byte{edits[2]});
    } else {
      wire[at] = static_cast<std::byte>(std::to_integer<unsigned>(wire[at]) + edits[2]);
    }
  }
}

// However the wire was changed, the received bytes equal the sealed ones up to the first change. Without a
// change all of them arrive.
void check(const std::vector<std::byte>& plain, const std::vector<std::byte>& wire, bool changed) {
  Ends ends = connection();
  WEIR_CHECK(::send(ends.there.number(), wire.data(), wire.size(), 0) == static_cast<ssize_t>(wire.size()));
  Stream stream(std::move(ends.here));
  stream.seal(keys());
  std::vector<std::byte> received;
  std::vector<std::byte> piece(7);
  for (;;) {
    const iovec into = place(piece);
    const auto got = stream.receive({&into, 1});
    if (!got || *got == 0) break;
    received.insert(received.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
  }
  WEIR_CHECK(changed ? received.size() <= plain.size() : received.size() == plain.size(), received.size(),
             plain.size());
  WEIR_CHECK(std::equal(received.begin(), received.end(), plain.begin()));
}

}  // namespace
}  // namespace weir::real

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::real;
  if (size == 0) return 0;
  std::vector<std::byte> plain(data[0] * kUnit);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::byte>(i * 31 & 0xff);
  const std::vector<std::byte> wire = sealed(plain);
  std::vector<std::byte> edited = wire;
  edit(edited, std::span(data, size).subspan(1));
  const bool longer = edited.size() > wire.size() && std::equal(wire.begin(), wire.end(), edited.begin());
  check(plain, edited, !longer && edited != wire);
  return 0;
}
