// How many bytes several processes of this host move when they do nothing else: the limit of what nodes here
// exchange.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct PlainSettings {
  int processes = 2;
  bool shared_memory = false;               // copies within each process, instead of TCP between them
  Bytes memory = Bytes(64 << 20);           // of each, that it moves from its beginning again after its end
  Duration time = Duration(1'000'000'000);  // about
};

struct PlainRate {
  BytesPerSecond all;    // of all processes together
  BytesPerSecond least;  // of the slowest one
};

/// What processes move in a second, counted where it arrives. Each sends to the next and receives from the
/// one before, all the time, with a thread for each; or, in shared memory, copies, which is all that a
/// message there needs. Fails if a process does.
Result<PlainRate> plain_rate(const PlainSettings& settings);

}  // namespace weir::real
