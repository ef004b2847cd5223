// Decodes a peer's offer of a connection by RDMA (backends/real/wire/rdma/offer.h).
#include <algorithm>

#include "backends/real/wire/rdma/offer.h"
#include "core/base/check.h"
#include "tests/fuzz/input.h"

namespace weir::real::rdma {
namespace {

// Reads the bytes as an offer.
Result<Offer> read(std::span<const std::byte> bytes) {
  OfferReader reader;
  while (!reader.whole()) {
    const auto room = reader.room();
    if (!room) return tl::unexpected(room.error());
    WEIR_CHECK(!room->empty());
    const std::size_t count = std::min(room->size(), bytes.size());
    if (count == 0) return failure("cut off");
    std::copy_n(bytes.begin(), count, room->begin());
    bytes = bytes.subspan(count);
    reader.came(count);
  }
  return reader.offer();
}

}  // namespace
}  // namespace weir::real::rdma

// An offer that can be read can be written again and means the same.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::real::rdma;
  const auto offer = read(std::as_bytes(std::span(data, size)));
  if (!offer) {
    WEIR_CHECK(!offer.error().text.empty());
    return 0;
  }
  const auto written = encode(*offer);
  const auto again = read(written);
  WEIR_CHECK(again && encode(*again) == written);
  return 0;
}
