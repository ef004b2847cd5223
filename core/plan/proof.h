// Proves a plan before a byte moves: it fits the cluster and workload, its ops make sense, no schedule
// deadlocks, no two ops conflict over bytes at once, and every gradient ends as the sum of all. The proof
// holds in every world that keeps the contract of port.h.
#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/workload/workload.h"

namespace weir {

/// What the proof showed, in numbers.
struct Proof {
  std::size_t ops = 0;
  std::size_t messages = 0;
  std::size_t ordered = 0;  // pairs of conflicting accesses shown to be ordered; all others follow from these
  Bytes summed;             // gradient bytes, over all GPUs, in which forward finds the sum of all
  friend bool operator==(const Proof&, const Proof&) = default;
};

/// The proof, or an error with a line for each finding. The steps:
///  1. structure: slices lie within their buffers and fit their op; each message has two ends that fit;
///  2. fit: all GPUs compute and read every byte of every layer; NICs and memories exist and are large
///     enough;
///  3. order: no ops wait for each other in a cycle, where a message waits for both of its ends (rendezvous);
///  4. races: if two ops touch the same bytes and at least one writes, then one waits for the other, also
///     across the border between iterations; sums into the same bytes commute;
///  5. sums: at each forward, every byte on every GPU holds the contributions of all GPUs, each once; either
///     all parameters have been updated with it, each once, or none has.
/// Each step relies on the steps before it. Findings about races and about sums are both reported.
Result<Proof> prove(const Plan& plan, const Cluster& cluster, const Workload& workload);

}  // namespace weir
