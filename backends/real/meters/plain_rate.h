// How fast several processes of this host move bytes when they do nothing else: the limit for nodes on this
// host.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct PlainSettings {
  int processes = 2;
  bool shared_memory = false;               // copies within each process, instead of TCP between them
  Bytes memory = Bytes(64 << 20);           // of each process, which moves it over and over
  Duration time = Duration(1'000'000'000);  // about
};

struct PlainRate {
  BytesPerSecond all;    // of all processes together
  BytesPerSecond least;  // of the slowest one
};

/// Counts bytes where they arrive. Each process sends to the next one and receives from the one before,
/// always, with a thread for each. With shared memory each process only copies, which is all that a message
/// there needs. Fails if a process does.
Result<PlainRate> plain_rate(const PlainSettings& settings);

}  // namespace weir::real
