// How a node gets its connections with its peers. Nobody without the job's token gets one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/real/wire/channel.h"
#include "backends/real/wire/socket.h"

namespace weir::real {

/// The secret of a job. Each connection must prove that it knows the token before a byte of a message moves.
/// The token itself never moves over a connection.
using Token = Secret;

/// What a node must know in order to meet its peers.
struct Meeting {
  MachineId self;
  std::vector<Lane> lanes;  // with all peers; two machines have the lanes between them in the same order
  // By machine and NIC: where it listens for this node. The last one stands for all further NICs.
  std::vector<std::vector<Address>> addresses;
  std::vector<std::string> names;  // of machines, for errors; if there are none, errors have numbers
  int channels = 1;                // in each lane
  Token token{};
  bool sealed = false;  // whether connections with other hosts are sealed, with keys derived from the token
  Duration patience;    // for all peers together
  /// If set, called about ten times a second. Its error ends the wait.
  std::function<Result<void>()> watch;

  const Address& address(MachineId machine, int nic) const;
  std::string name(MachineId machine) const;
  /// "machine gpu[1] at 10.0.0.1:4000", as errors call it.
  std::string peer(const Lane& lane) const;
};

/// Connects to the peers with smaller numbers, which listen. Lets the others connect to any of `listeners`,
/// which the caller should close afterwards. Fails, and names them, if peers do not come in time. Closes and
/// forgets connections that do not prove that they know the token.
Result<std::vector<Channel>> meet(const Meeting& meeting, std::span<const Descriptor> listeners);

}  // namespace weir::real
