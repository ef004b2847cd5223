// What one node needs to write into another's memory, and the writes that make up a message.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "backends/real/wire/channel.h"
#include "backends/real/wire/rdma/queue_pair.h"
#include "backends/real/wire/rdma/rdma.h"
#include "backends/real/wire/rdma/regions.h"

namespace weir::real::rdma {

/// Of one channel, whose owner owns it too.
struct Connection {
  /// This node's. They outlive the pair, so that no write of the peer loses its target.
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

/// The writes that make up a message, in order. The last write of each chunk tells the peer the message's
/// number, and so does the only write of an empty message. `into` is the peer's receive.
std::vector<Write> writes_of(const Connection& connection, const Plan& plan, const Buffers& buffers,
                             const Op& send, const Op& into);

/// A message is written in chunks of so many bytes. After each, both nodes learn how much of it has arrived.
Bytes chunk_of(Bytes size);
/// How many chunks a message has: at least one, and a few at most.
std::int64_t chunks_of(Bytes size);

}  // namespace weir::real::rdma
