// Measures how fast two nodes of this host exchange messages, beside what processes that do nothing else move
// the same way in the same time.
#pragma once

#include <array>
#include <string>

#include "backends/real/transport/channel_transport.h"
#include "backends/real/transport/transport_choice.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct TransportSettings {
  Bytes message = Bytes(4 << 20);  // of each
  Bytes offset;                    // from a page, at which each begins at both ends
  int entries = 1;                 // plain writes over RDMA: pieces that each is described by
  int under_way = 8;               // messages that a node may send at once, and as many places for them
  int channels = 2;
  int io_threads = 2;                                             // of each node
  TransportChoice engine = TransportChoice::kTcp;                 // not auto
  std::array<std::string, 2> hosts = {"127.0.0.1", "127.0.0.1"};  // of RDMA those of the devices
  Duration poll = ChannelSettings{}.poll;
  bool sealed = false;                      // TCP's connections
  Duration time = Duration(1'000'000'000);  // about, of one measurement
};

/// Payload in one direction while the other was as busy.
struct TransportRate {
  BytesPerSecond nodes;
  BytesPerSecond sockets;  // that move the same 1 MiB again and again, which stays in caches
  BytesPerSecond spread;   // sockets that move as much memory as the messages under way have
  BytesPerSecond copies;   // of as much memory, within each of two processes: no message is faster
};

/// Over TCP or shared memory. Runs two processes for each, one after the other. Fails if one of them does.
Result<TransportRate> measure_transport(const TransportSettings& settings);

/// The same over RDMA.
struct RdmaRate {
  BytesPerSecond nodes;
  BytesPerSecond writes;           // that processes post which do nothing else, as many at once
  std::int64_t registrations = 0;  // of memory, by both nodes once they have met
  Bytes copied;                    // by their processors, of all messages
};
Result<RdmaRate> measure_rdma(const TransportSettings& settings);

}  // namespace weir::real
