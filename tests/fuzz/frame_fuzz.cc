// Decodes frames of data connections from bytes that anybody may have sent.
#include <algorithm>

#include "backends/real/wire/frame.h"
#include "core/base/check.h"
#include "tests/fuzz/input.h"

namespace weir::real {
namespace {

void check(const FrameBytes& bytes) {
  const auto frame = decode(bytes);
  if (!frame) {
    WEIR_CHECK(!frame.error().text.empty());
    return;
  }
  WEIR_CHECK(encode(*frame) == bytes);  // so two encodings never mean the same
  WEIR_CHECK(frame->size >= Bytes(0) && frame->took >= Duration(0), frame->size.count(), frame->took.ns());
  WEIR_CHECK(frame->message.valid() == (frame->kind != Frame::Kind::kAlive));
}

}  // namespace
}  // namespace weir::real

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::real;
  for (std::size_t at = 0; at + kFrameSize <= size; at += kFrameSize) {
    FrameBytes bytes{};
    std::transform(data + at, data + at + kFrameSize, bytes.begin(),
                   [](std::uint8_t b) { return std::byte{b}; });
    check(bytes);
  }
  return 0;
}
