// RDMA as a wire (wire.h): the sender's device writes into the receiver's memory.
#pragma once

#include "backends/real/wire/wire.h"

namespace weir::real::rdma {

class Device;
struct Connection;

constexpr std::string_view kName = "rdma";
constexpr WireTraits kTraits{.uses_devices = true, .reaches_gpus = true};

Result<void> available(const std::string& host);

/// Joins the queue pairs of the devices that are the lanes' NICs (choice.h). Both ends tell each other where
/// messages land, with the keys of that memory, and then try whether a write reaches the other. Refuses all
/// lanes that it cannot have; of a meeting that is sealed it takes none, as devices write bytes as they are.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, Use use);

std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context);

/// For measurements and tests of this wire alone: what a channel writes over, and its device, which outlives
/// the channel. Null if the channel is another wire's.
std::shared_ptr<Connection> connection_of(const Channel& channel);
std::shared_ptr<const Device> device_of(const Channel& channel);

}  // namespace weir::real::rdma
