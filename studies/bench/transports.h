// How fast two nodes of this host exchange messages of one size, compared with others that move bytes in the
// same way.
#pragma once

#include <cstdint>

#include "backends/real/meters/transport_meter.h"
#include "core/base/result.h"

namespace weir {

/// A rate that something else achieves, and the nodes' rate as a fraction of it.
struct ComparedRate {
  BytesPerSecond rate;
  double share = 0;
};

/// Medians over the repetitions, also of the shares: all rates of one repetition are measured at about the
/// same time.
struct SocketRates {
  BytesPerSecond nodes;
  ComparedRate sockets;
  ComparedRate spread;  // over as much memory as the messages occupy
  ComparedRate copies;
};
struct WriteRates {
  BytesPerSecond nodes;
  ComparedRate writes;
  std::int64_t registrations = 0;  // of all repetitions; so are the bytes that a processor copied
  Bytes copied;
};

/// Over TCP or shared memory.
Result<SocketRates> socket_rates(const real::TransportSettings& settings, int repetitions);
/// Over RDMA.
Result<WriteRates> write_rates(const real::TransportSettings& settings, int repetitions);

}  // namespace weir
