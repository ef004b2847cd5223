// How two nodes come to write into each other's memory over RDMA.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/real/wire/links.h"
#include "backends/real/wire/rdma/choice.h"
#include "core/plan/plan.h"

namespace weir::real::rdma {

enum class Use {
  kIfPossible,  // else messages stay on TCP
  kAlways,
};

struct Wishes {
  Use use = Use::kIfPossible;
  std::vector<NicPlace> places;  // of this machine's NICs; none if addresses alone are to choose devices
};

/// Gives channels that share no memory a connection: queue pairs of the devices that are the lane's NICs
/// (choice.h). What must be told, the ends and where messages land with their keys, goes over the channels'
/// data connections, so that it reaches only those who have shown the job's token. Then both try whether a
/// write reaches the other. All peers do the same. Blocks, for the meeting's patience at most. Fails, naming
/// the peer and the reason, where RDMA is to be used always and one of the two ends cannot, or a peer says
/// what the plan does not allow. Returns the lanes that stay on TCP, and why.
Result<std::map<Lane, std::string>> connect(std::vector<Channel>& channels, const Meeting& meeting,
                                            const Plan& plan, const Buffers& buffers, const Wishes& wishes);

}  // namespace weir::real::rdma
