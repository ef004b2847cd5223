#include "backends/real/wire/rdma/connection.h"

#include <algorithm>

namespace weir::real::rdma {
namespace {

// Bytes of the peer's memory, up to the end of their region.
struct Aim {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::size_t size = 0;
};

Aim aim_at(const Connection& connection, const Extent& extent, std::size_t done) {
  const Landing& landing = connection.landings.at({extent.buffer, extent.replica});
  const auto region_size = static_cast<std::size_t>(kRegion.count());
  const std::size_t offset = static_cast<std::size_t>(extent.range.offset.count()) + done;
  const std::size_t region = offset / region_size;
  const std::size_t rest = static_cast<std::size_t>(extent.range.size.count()) - done;
  return {landing.address + offset, landing.keys[region],
          std::min(rest, (region + 1) * region_size - offset)};
}

}  // namespace

Bytes chunk_of(Bytes size) {
  constexpr std::int64_t kLeast = 64 << 20;
  constexpr std::int64_t kMost = 16;  // number of chunks
  return Bytes(std::max(kLeast, (size.count() + kMost - 1) / kMost));
}

std::int64_t chunks_of(Bytes size) {
  const std::int64_t chunk = chunk_of(size).count();
  return std::max<std::int64_t>(1, (size.count() + chunk - 1) / chunk);
}

std::vector<Write> writes_of(const Connection& connection, const Plan& plan, const Buffers& buffers,
                             const Op& send, const Op& into) {
  std::vector<std::span<std::byte>> from = buffers.bytes(send.from, send.dtype);
  const auto chunk = static_cast<std::size_t>(chunk_of(send.from.size).count());
  std::vector<Write> writes;
  std::size_t part = 0;  // index into `from`
  std::size_t in_chunk = 0;
  for (const Extent& extent : Extents(plan, into.into, into.dtype)) {
    const auto size = static_cast<std::size_t>(extent.range.size.count());
    for (std::size_t done = 0; done < size;) {
      while (from[part].empty()) ++part;
      const Aim aim = aim_at(connection, extent, done);
      const auto most = std::min({from[part].size(), aim.size, chunk - in_chunk});
      const Regions::Piece piece = connection.regions->first_of(from[part].first(most));
      const std::size_t bytes = piece.bytes.size();
      writes.push_back({piece.bytes, piece.key, aim.address, aim.key, {}, piece.on_gpu});
      from[part] = from[part].subspan(bytes);
      done += bytes;
      in_chunk = (in_chunk + bytes) % chunk;
      if (in_chunk == 0) writes.back().notice = send.message.value();
    }
  }
  if (writes.empty()) writes.emplace_back();
  writes.back().notice = send.message.value();
  return writes;
}

}  // namespace weir::real::rdma
