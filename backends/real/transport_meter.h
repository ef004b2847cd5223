// Measures how fast two nodes of this host exchange messages, beside what plain sockets move between two
// processes in the same time, and what two processes copy.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct TransportSettings {
  Bytes message = Bytes(4 << 20);  // of each
  int under_way = 8;               // messages that a node may send at once, and as many places for them
  int channels = 2;
  int io_threads = 2;                       // of each node
  bool shared_memory = false;               // instead of TCP
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

/// Runs two processes for each, one after the other. Fails if one of them does.
Result<TransportRate> measure_transport(const TransportSettings& settings);

}  // namespace weir::real
