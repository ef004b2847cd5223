// The table of the wires that messages can move through.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backends/real/transport/transport_choice.h"
#include "backends/real/wire/wire.h"

namespace weir::real {

/// Any two machines can use the first. Where a job may use all, the others are tried before it, in order.
std::span<const Wire> wires();

/// Null if there is none of that name.
const Wire* find_wire(std::string_view name);
/// The wire of a channel that has been joined.
const Wire& wire_of(const Channel& channel);

/// Gives each channel its medium: of the wire that is chosen, of the first one where that joins machines of
/// one host only, or of the best that both ends can use. All peers do the same. Fails as the wires do.
/// Returns the lanes that could have had another wire but stay with the first, and why.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, TransportChoice choice);

}  // namespace weir::real
