// The words of the connections between two nodes: what stands before a message's bytes, that a receiver has
// room, that the bytes lie in its memory, and that a quiet peer is alive. Little-endian, 32 bytes each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct Frame {
  enum class Kind : std::uint32_t {
    kReady = 1,   // the receiver has room for the message
    kData = 2,    // the message follows, `size` bytes of it
    kAlive = 3,   // says nothing else
    kLanded = 4,  // the message, `size` bytes of it, lies in the receiver's memory
  };
  Kind kind = Kind::kAlive;
  MessageId message;        // none if alive
  std::uint64_t round = 0;  // which time that the message is sent, from 0
  Bytes size;               // data, landed
  Duration took;            // landed: from the message's start
  friend bool operator==(const Frame&, const Frame&) = default;
};

constexpr std::size_t kFrameSize = 32;
using FrameBytes = std::array<std::byte, kFrameSize>;

FrameBytes encode(const Frame& frame);
/// What the bytes say. Fails if they are no frame; whether it fits the plan is the reader's to check.
Result<Frame> decode(const FrameBytes& bytes);

}  // namespace weir::real
