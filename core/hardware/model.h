// What a simulated world assumes beyond the topology. Every result repeats these settings.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace weir {

/// The flows that move when several GPUs of a machine work together: in a collective, or when each copies its
/// share.
enum class Collectives {
  kMacro,   // one flow over all their links, at the pace of the slowest
  kPerGpu,  // a flow for each GPU; the op ends with the last of them
};

/// Settings of a simulation.
struct Model {
  Collectives collectives = Collectives::kMacro;
  Duration message_overhead;  // fixed time that each message occupies its channel (theta of ByteScheduler
                              // section 4.1)
  int scatter_entries = 1;    // number of pieces of memory that make up a message
  Duration entry_overhead;    // what each piece after the first adds to the overhead
  double unaligned_efficiency =
      1.0;  // the fraction of their rate that messages achieve if either end begins inside a page of host
            // memory, not on its first byte: they take as long as larger messages
  Duration collective_overhead;  // what each reduction, gathering or broadcast among a machine's GPUs adds to
                                 // the compute time of its layer, because its kernels run in between; in
                                 // rings among machines, each chunk of a bucket has its own
  double compute_jitter = 0.0;   // relative standard deviation of compute times; 0 is exact
  std::uint64_t seed = 1;        // seed of the jitter

  Duration overhead_of_message() const { return message_overhead + entry_overhead * (scatter_entries - 1); }
};

}  // namespace weir
