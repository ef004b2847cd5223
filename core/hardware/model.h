// What a simulated world assumes beyond the topology: the settings that every result repeats.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace weir {

/// What moves when several GPUs of a machine work together: in a collective, or as each copies its share.
enum class Collectives {
  kMacro,   // one flow over all links that they load, at the pace of the slowest
  kPerGpu,  // each GPU's bytes on their own; the op ends with the last of them
};

/// Settings of a simulation.
struct Model {
  Collectives collectives = Collectives::kMacro;
  Duration message_overhead;  // fixed time that each message occupies its channel (theta of ByteScheduler
                              // section 4.1)
  int scatter_entries = 1;    // pieces of memory that a message is described by
  Duration entry_overhead;    // what each of them but the first adds to the overhead
  double unaligned_efficiency = 1.0;  // the fraction of their rate that messages reach which begin within a
                                      // page of host memory, at either end: they take as long as larger ones
  Duration collective_overhead;  // what each reduction, gathering or broadcast among a machine's GPUs takes
                                 // from computing the layer that it is for, as its kernels stand between; of
                                 // rings among machines each chunk of a bucket has its own
  double compute_jitter = 0.0;   // relative standard deviation of compute times; 0 is exact
  std::uint64_t seed = 1;        // of the jitter

  Duration overhead_of_message() const { return message_overhead + entry_overhead * (scatter_entries - 1); }
};

}  // namespace weir
