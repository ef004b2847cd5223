// What plain TCP connections move between the machines of a lab: what any program can hope for there, and
// what results are held against.
#pragma once

#include <vector>

#include "backends/real/lab/lab.h"

namespace weir::real {

/// One connection that carries bytes all the time.
struct RawFlow {
  MachineId from;
  MachineId into;
  int from_nic = 0;
  int into_nic = 0;
};

struct RateSettings {
  Bytes write = Bytes(256 << 10);              // handed to the socket at once
  Duration warm_up = Duration(1'000'000'000);  // for what new connections lose to come again
  Duration time = Duration(2'000'000'000);     // that counts, after the warm-up
};

/// The payload that arrived on each stream while all ran at once, in their order. Takes the warm-up and the
/// time, and fails if a connection cannot be made or stands still for ten seconds. Runs two processes a
/// stream.
Result<std::vector<BytesPerSecond>> raw_rates(Lab& lab, const std::vector<RawFlow>& streams,
                                              const RateSettings& settings);

}  // namespace weir::real
