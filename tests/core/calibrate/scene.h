// A small cluster of two GPU machines and two CPU machines for tests of calibrations, and experiments on it.
#pragma once

#include <memory>
#include <string>

#include "core/calibrate/real_runs.h"
#include "core/experiment/experiment.h"

namespace weir::test {

/// All its values can be fitted: NICs of 10 Gbps, sums of f32 at 5 GB/s, GPUs at 12 GB/s.
std::string topology_text();
Topology topology();

/// Reads the text as an experiment file.
Experiment experiment_of(const std::string& text);

/// On this topology: two tensors of 8 and 4 MB, in parts of 1 MB.
Experiment experiment(const Topology& topology, const std::string& strategy, int gpu_machines,
                      int cpu_machines);

/// On this topology, with its own counts: one whole tensor of so many f32 elements.
Experiment one_tensor(const Topology& topology, const std::string& strategy, int elements);

/// A calibration of all values that its messages, sums and copies use, as if they had been measured with
/// sizes from 1 KB to 16 MB on four machines.
Calibration calibration(const Topology& topology);

}  // namespace weir::test
