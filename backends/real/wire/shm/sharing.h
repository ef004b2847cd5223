// How nodes of one host come to write into each other's memory.
#pragma once

#include <vector>

#include "backends/real/wire/links.h"

namespace weir::real {

/// Hands what messages land in here, which Buffers::make_shared() has made, to those peers whose address is
/// local, and takes from each what this node's messages land in there: `memory` of their channels.
/// Descriptors go over the channels' data connections, so that they reach only those who have shown the job's
/// token, and no more of this process than these buffers can be opened. Blocks, for the meeting's patience at
/// most. Fails, naming the peer, if it hands over other memory than the plan says.
Result<void> share_memory(std::vector<Channel>& channels, const Meeting& meeting, const Plan& plan,
                          const Buffers& buffers);

}  // namespace weir::real
