// How one machine gets the channels that its part of a plan needs, once it knows where its peers listen.
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
  std::vector<NicSpec> nics;    // this one's, as the topology has them
  int channels = 1;             // in each lane
  Token token{};                // of this plan's connections alone
  TransportChoice transport = TransportChoice::kTcp;
  bool encrypt = false;
  Duration patience;                    // for all peers together
  std::function<Result<void>()> watch;  // called about ten times a second; its error ends the wait
};

struct Peers {
  std::vector<Channel> channels;
  std::map<std::string, int> transports;  // how many lanes move messages through each
  std::map<std::string, int> on_tcp;      // by reason: lanes that could have had another wire
};

/// A socket at which machines of this host find this one, for memory that they share, and its name.
struct LocalListener {
  Descriptor socket;
  std::string name;
};
Result<LocalListener> listen_locally();

/// Meets all peers of the plan, whose machines are the cluster's, and joins each by a wire. If the transport
/// may share memory, Buffers::make_shared() has made the buffers.
Result<Peers> connect_peers(const Plan& plan, const Cluster& cluster, const Buffers& buffers,
                            const PeerSettings& settings, std::span<const Descriptor> listeners);

}  // namespace weir::real
