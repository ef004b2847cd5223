// How one machine connects the channels of its part of a plan, once it knows where its peers listen.
#pragma once

#include <map>
#include <string>

#include "backends/real/job/notes.h"
#include "backends/real/memory/buffers.h"
#include "backends/real/wire/meeting.h"
#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir::real {

struct PeerSettings {
  MachineId self;
  std::vector<Place> machines;  // all of them
  std::vector<NicSpec> nics;    // this machine's, in the topology's order
  int channels = 1;             // in each lane
  Token token{};                // only for this plan's connections
  TransportChoice transport = TransportChoice::kTcp;
  bool encrypt = false;
  Duration patience;                    // for all peers together
  std::function<Result<void>()> watch;  // called about ten times a second; its error ends the wait
};

struct Peers {
  std::vector<Channel> channels;
  std::map<std::string, int> transports;  // number of peers by the wire of their first channel
  std::map<std::string, int> on_tcp;  // by reason: number of lanes on TCP that could have had another wire
};

/// A socket for machines of this host that share memory with this one, and the socket's name.
struct LocalListener {
  Descriptor socket;
  std::string name;
};
Result<LocalListener> listen_locally();

/// Meets all peers of the plan, whose machines are the cluster's, and joins each by a wire. If the transport
/// may share memory, the buffers must come from Buffers::make_shared().
Result<Peers> connect_peers(const Plan& plan, const Cluster& cluster, const Buffers& buffers,
                            const PeerSettings& settings, std::span<const Descriptor> listeners);

}  // namespace weir::real
