#include "backends/real/wire/frame.h"

#include <fmt/format.h>

#include <limits>

namespace weir::real {
namespace {

template <class Unsigned>
void put(Unsigned value, std::byte* into) {
  for (std::size_t i = 0; i < sizeof value; ++i) into[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

template <class Unsigned>
Unsigned get(const std::byte* from) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= static_cast<Unsigned>(from[i]) << (8 * i);
  return value;
}

}  // namespace

FrameBytes encode(const Frame& frame) {
  FrameBytes bytes{};
  put(static_cast<std::uint32_t>(frame.kind), bytes.data());
  put(frame.message.value(), &bytes[4]);
  put(frame.round, &bytes[8]);
  put(static_cast<std::uint64_t>(frame.size.count()), &bytes[16]);
  put(static_cast<std::uint64_t>(frame.took.ns()), &bytes[24]);
  return bytes;
}

Result<Frame> decode(const FrameBytes& bytes) {
  Frame frame;
  const auto kind = get<std::uint32_t>(bytes.data());
  const auto message = get<std::uint32_t>(&bytes[4]);
  const auto size = get<std::uint64_t>(&bytes[16]);
  if (kind < 1 || kind > 4) return failure(fmt::format("unknown kind of word {}; expected 1 to 4", kind));
  frame.kind = static_cast<Frame::Kind>(kind);
  frame.round = get<std::uint64_t>(&bytes[8]);
  const auto took = get<std::uint64_t>(&bytes[24]);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (size > kMost) return failure(fmt::format("a message cannot have {} bytes", size));
  if (took > kMost) return failure(fmt::format("a message cannot take {} ns", took));
  frame.size = Bytes(static_cast<std::int64_t>(size));
  frame.took = Duration(static_cast<std::int64_t>(took));
  if (message != MessageId::none().value()) frame.message = MessageId(message);
  const bool alive = frame.kind == Frame::Kind::kAlive;
  if (frame.message.valid() == alive)
    return failure(alive ? "the word 'alive' must not name a message" : "a word must name its message");
  const bool landed = frame.kind == Frame::Kind::kLanded;
  if (frame.kind != Frame::Kind::kData && !landed && frame.size != Bytes(0)) {
    return failure("only the words 'data' and 'landed' may have a size");
  }
  if (!landed && frame.took != Duration(0)) return failure("only the word 'landed' may have a time");
  return frame;
}

}  // namespace weir::real
