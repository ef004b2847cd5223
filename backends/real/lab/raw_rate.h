// Measures what plain TCP connections move between the machines of a lab: the limit for any program there,
// and the reference for results.
#pragma once

#include <vector>

#include "backends/real/lab/lab.h"

namespace weir::real {

/// One connection that always carries bytes.
struct RawFlow {
  MachineId from;
  MachineId into;
  int from_nic = 0;
  int into_nic = 0;
};

struct RateSettings {
  Bytes write = Bytes(256 << 10);              // given to the socket at once
  Duration warm_up = Duration(1'000'000'000);  // new connections repeat what they lose
  Duration time = Duration(2'000'000'000);     // measured, after the warm-up
};

/// The payload rate of each stream while all ran at once, in their order. Takes the warm-up and the time.
/// Fails if a connection cannot be made or stalls for ten seconds. Runs two processes for each stream.
Result<std::vector<BytesPerSecond>> raw_rates(Lab& lab, const std::vector<RawFlow>& streams,
                                              const RateSettings& settings);

}  // namespace weir::real
