// How one node writes into another's memory: over what, and which writes a message is.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "backends/real/wire/channel.h"
#include "backends/real/wire/rdma/queue_pair.h"
#include "backends/real/wire/rdma/rdma.h"
#include "backends/real/wire/rdma/regions.h"

namespace weir::real::rdma {

/// Of one channel. Its owner is the channel's.
struct Connection {
  /// This node's. They outlive the pair, so that no write of the peer's loses its aim.
  std::shared_ptr<const Regions> regions;
  std::map<Replica, Landing> landings;  // the peer's, of messages from here
  std::unique_ptr<QueuePair> pair;
};

/// The medium of a channel.
class RemoteMemory final : public Medium {
 public:
  explicit RemoteMemory(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  std::string_view wire() const override { return kName; }
  std::shared_ptr<Connection> connection() const { return connection_; }

 private:
  std::shared_ptr<Connection> connection_;
};

/// The writes that a message is, in order; the last in each chunk tells the peer its number, and so
/// does the only one of an empty message. `into` is the receive, of the peer.
std::vector<Write> writes_of(const Connection& connection, const Plan& plan, const Buffers& buffers,
                             const Op& send, const Op& into);

/// After as many bytes of a message of that size, and at its end, both nodes learn how far it is.
Bytes chunk_of(Bytes size);
/// How often that is: at least once, and a few times at most.
std::int64_t chunks_of(Bytes size);

}  // namespace weir::real::rdma
