// How fast two nodes of this host exchange messages of one size, beside what others move the same way.
#pragma once

#include <cstdint>

#include "backends/real/meters/transport_meter.h"
#include "core/base/result.h"

namespace weir {

/// A rate that others reach, and the nodes' part of it.
struct ComparedRate {
  BytesPerSecond rate;
  double share = 0;
};

/// Medians over the repetitions; of shares too, as all rates of one are measured at about the same time.
struct SocketRates {
  BytesPerSecond nodes;
  ComparedRate sockets;
  ComparedRate spread;  // over as much memory as the messages have
  ComparedRate copies;
};
struct WriteRates {
  BytesPerSecond nodes;
  ComparedRate writes;
  std::int64_t registrations = 0;  // of all repetitions, as are the bytes that a processor copied
  Bytes copied;
};

/// Over TCP, or memory that the nodes share.
Result<SocketRates> socket_rates(const real::TransportSettings& settings, int repetitions);
/// Over RDMA.
Result<WriteRates> write_rates(const real::TransportSettings& settings, int repetitions);

}  // namespace weir
