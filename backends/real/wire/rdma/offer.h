// What two nodes tell each other so that each can write into the other's memory: a size of four bytes,
// little-endian, and a document.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backends/real/wire/rdma/queue_pair.h"
#include "backends/real/wire/rdma/regions.h"

namespace weir::real::rdma {

struct Offer {
  std::string refusal;  // why this node cannot use RDMA with the peer; empty if it can, and the rest counts
  Endpoint end;
  std::vector<Landing> landings;  // as landings() of the plan has them
};

std::vector<std::byte> encode(const Offer& offer);

/// Puts together what comes.
class OfferReader {
 public:
  /// Where the next bytes go. Fails if what has come is too large to be an offer.
  Result<std::span<std::byte>> room();
  void came(std::size_t bytes) { got_ += bytes; }
  bool whole() const;
  /// Once whole. Fails if it is none.
  Result<Offer> offer() const;

 private:
  std::vector<std::byte> bytes_;
  std::size_t got_ = 0;
};

}  // namespace weir::real::rdma
