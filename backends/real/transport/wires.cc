#include "backends/real/transport/wires.h"

#include <algorithm>
#include <array>

#include "backends/real/wire/rdma/rdma.h"
#include "backends/real/wire/shm/shm.h"
#include "backends/real/wire/tcp/tcp.h"

namespace weir::real {
namespace {

constexpr std::array kWires = {
    Wire{tcp::kName, tcp::kTraits, tcp::available, tcp::join, tcp::make_mover},
    Wire{shm::kName, shm::kTraits, shm::available, shm::join, shm::make_mover},
    Wire{rdma::kName, rdma::kTraits, rdma::available, rdma::join, rdma::make_mover},
};
static_assert(kWires[static_cast<std::size_t>(TransportChoice::kTcp)].name == tcp::kName);

}  // namespace

std::span<const Wire> wires() { return kWires; }

const Wire* find_wire(std::string_view name) {
  const auto* const found =
      std::find_if(kWires.begin(), kWires.end(), [&](const Wire& wire) { return wire.name == name; });
  return found == kWires.end() ? nullptr : &*found;
}

const Wire& wire_of(const Channel& channel) {
  WEIR_CHECK(channel.medium != nullptr, channel.index);
  const Wire* const wire = find_wire(channel.medium->wire());
  WEIR_CHECK(wire != nullptr, channel.medium->wire());
  return *wire;
}

Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, TransportChoice choice) {
  const Wire* const only = only_wire(choice);
  const Use use = only == nullptr ? Use::kIfPossible : Use::kAlways;
  Refusals refusals;
  for (const Wire& wire : wires().subspan(1)) {
    if (only != nullptr && only != &wire) continue;
    auto refused = wire.join(channels, joining, use);
    if (!refused) return refused;
    refusals.merge(*refused);
  }
  for (const Channel& channel : channels) {  // channels that one wire refused may have got a later wire
    if (channel.medium != nullptr) refusals.erase(channel.lane);
  }
  const auto rest = kWires.front().join(channels, joining, Use::kAlways);
  if (!rest) return rest;
  return refusals;
}

}  // namespace weir::real
