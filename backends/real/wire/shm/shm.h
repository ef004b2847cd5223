// Shared memory as a wire (wire.h): nodes of one host write into each other's memory.
#pragma once

#include "backends/real/wire/wire.h"

namespace weir::real::shm {

constexpr std::string_view kName = "shm";
constexpr WireTraits kTraits{.within_host = true, .cuts_messages = true};

Result<void> available(const std::string& host);

/// Joins this node with those peers whose address is local. It hands over the memory that their messages land
/// in here, which Buffers::make_shared() has made, and takes what this node's messages land in there.
/// Descriptors go over the channels' data connections; no more of this process than these buffers can be
/// opened. Refuses no lane. Fails, and names the peer, if that hands over other memory than the plan says.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, Use use);

std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context);

}  // namespace weir::real::shm
