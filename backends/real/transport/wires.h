// The table of the wires that messages can move through.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backends/real/transport/transport_choice.h"
#include "backends/real/wire/wire.h"

namespace weir::real {

/// The first wire works between any two machines. If a job may use all wires, the others are tried before it,
/// in order.
std::span<const Wire> wires();

/// Null if no wire has that name.
const Wire* find_wire(std::string_view name);
/// The wire of a channel that has been joined.
const Wire& wire_of(const Channel& channel);

/// Gives each channel its medium. If a wire is chosen, it is used; where it only joins machines of one host,
/// other channels get the first wire. Otherwise each channel gets the best wire that both ends can use. All
/// peers must call it with the same choice. Fails as the wires do. Returns the lanes that could have had
/// another wire but use the first, and why.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, TransportChoice choice);

}  // namespace weir::real
