// The connections of one node with its peers: how they come about, and that nobody without the job's token
// gets one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/wire/pace.h"
#include "backends/real/wire/socket.h"
#include "backends/real/wire/stream.h"
#include "core/base/ids.h"

namespace weir::real {

namespace rdma {
struct Connection;
}

/// Of a job. Each connection must prove that it knows it before a byte of a message moves; it never moves
/// over one itself.
using Token = Secret;

/// What messages between one NIC of this node and one of a peer take.
struct Lane {
  MachineId peer;
  int nic = 0;
  int peer_nic = 0;
  friend auto operator<=>(const Lane&, const Lane&) = default;
};

/// One of the channels between two nodes: messages of a channel move one after the other. Words (frame.h)
/// have a connection of their own, so that none waits behind a message.
struct Channel {
  Lane lane;
  int index = 0;  // among those with this peer, over all lanes
  Stream words;
  Stream data;
  /// What of the peer's memory this node may write messages into; null if bytes take the data connection. All
  /// channels with the peer write into the same.
  std::shared_ptr<const Buffers> memory;
  /// What messages move over instead of the data connection, if there is one.
  std::shared_ptr<rdma::Connection> rdma;
  /// That all channels of the lane send at; null if nothing holds them back.
  std::shared_ptr<Pace> pace;
};

struct Meeting {
  MachineId self;
  std::vector<Lane> lanes;  // with all peers; both ends have those with each other in the same order
  // By machine and NIC, a peer's as it listens for this node; the last stands for all further NICs.
  std::vector<std::vector<Address>> addresses;
  std::vector<std::string> names;  // of machines, for errors; without them their numbers stand there
  int channels = 1;                // in each lane
  Token token{};
  bool sealed = false;  // whether connections with other hosts are, with keys that the token gives
  Duration patience;    // for all peers together
  /// Called some ten times a second, if there is one; what it fails with ends the wait.
  std::function<Result<void>()> watch;

  const Address& address(MachineId machine, int nic) const;
  std::string name(MachineId machine) const;
  /// "machine gpu[1] at 10.0.0.1:4000", as errors call it.
  std::string peer(const Lane& lane) const;
};

/// Connects to the peers of smaller number, which listen, and lets the others connect to any of
/// `listeners`, which the caller should close then. Fails naming who did not come in time. Connections that
/// do not prove that they know the token are closed and forgotten.
Result<std::vector<Channel>> meet(const Meeting& meeting, std::span<const Descriptor> listeners);

}  // namespace weir::real
