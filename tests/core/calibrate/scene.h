// A small cluster of two GPU machines and two CPU machines for tests of calibrations, and experiments on it.
#pragma once

#include <memory>
#include <string>

#include "core/calibrate/real_runs.h"
#include "core/experiment/experiment.h"

namespace weir::test {

/// Everything that it states can be fitted: NICs of 10 Gbps, sums of f32 at 5 GB/s, GPUs at 12 GB/s.
std::string topology_text();
Topology topology();

/// As a file would have it.
Experiment experiment_of(const std::string& text);

/// On that topology, or another: two tensors of 8 and 4 MB, in parts of 1 MB.
Experiment experiment(const Topology& topology, const std::string& strategy, int gpu_machines,
                      int cpu_machines);

/// On that topology, at its own size: one tensor of so many elements of f32, whole.
Experiment one_tensor(const Topology& topology, const std::string& strategy, int elements);

/// A calibration of all values that its messages, sums and copies use, as if they had been measured with
/// sizes from 1 KB to 16 MB on four machines.
Calibration calibration(const Topology& topology);

}  // namespace weir::test
