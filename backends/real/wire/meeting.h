// The connections of one node with its peers: how they come about, and that nobody without the job's token
// gets one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/real/wire/channel.h"
#include "backends/real/wire/socket.h"

namespace weir::real {

/// Of a job. Each connection must prove that it knows it before a byte of a message moves; it never moves
/// over one itself.
using Token = Secret;

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
