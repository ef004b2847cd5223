// Measures how fast two nodes of this host exchange messages. Measures processes that only move bytes the
// same way beside them.
#pragma once

#include <array>
#include <string>

#include "backends/real/transport/channel_transport.h"
#include "backends/real/transport/transport_choice.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct TransportSettings {
  Bytes message = Bytes(4 << 20);  // of each message
  Bytes offset;                    // where each message begins after a page boundary, at both ends
  int entries = 1;                 // plain writes over RDMA: pieces of each
  int under_way = 8;               // messages that a node sends at once, each with a place of its own
  int channels = 2;
  int io_threads = 2;                                             // of each node
  TransportChoice engine = TransportChoice::kTcp;                 // not auto
  std::array<std::string, 2> hosts = {"127.0.0.1", "127.0.0.1"};  // for RDMA those of the devices
  Duration poll = ChannelSettings{}.poll;
  bool sealed = false;                      // for TCP: encrypted connections
  Duration time = Duration(1'000'000'000);  // about, per measurement
};

/// Payload rates in one direction while the other one is equally busy.
struct TransportRate {
  BytesPerSecond nodes;
  BytesPerSecond sockets;  // plain sockets that move the same 1 MiB, which stays in caches
  BytesPerSecond spread;   // plain sockets that move as much memory as the messages under way
  BytesPerSecond copies;   // two processes that copy as much memory: the limit for messages
};

/// Over TCP or shared memory. Each measurement runs two processes. Fails if one of them does.
Result<TransportRate> measure_transport(const TransportSettings& settings);

/// The same over RDMA.
struct RdmaRate {
  BytesPerSecond nodes;
  BytesPerSecond writes;           // plain writes of processes that do nothing else, as many at once
  std::int64_t registrations = 0;  // of memory, by both nodes after they have connected
  Bytes copied;                    // by CPUs, of all messages
};
Result<RdmaRate> measure_rdma(const TransportSettings& settings);

}  // namespace weir::real
