// How long a machine of some speed computes.
#pragma once

#include <cmath>
#include <vector>

#include "core/workload/workload.h"

namespace weir {

/// In seconds, of the layers from l on. Plans round the time of each layer to nanoseconds; here it is rounded
/// down, because bounds are made of it.
struct ComputeTimes {
  std::vector<double> backward;
  std::vector<double> forward;

  ComputeTimes(const Workload& workload, double speed)
      : backward(static_cast<std::size_t>(workload.layers()) + 1), forward(backward) {
    for (std::size_t l = backward.size() - 1; l-- > 0;) {
      const auto& layer = workload.layer(static_cast<int>(l));
      const auto seconds = [speed](Duration time) {
        return std::floor(static_cast<double>(time.ns()) / speed) * 1e-9;
      };
      backward[l] = backward[l + 1] + seconds(layer.backward);
      forward[l] = forward[l + 1] + seconds(layer.forward);
    }
  }
  double all() const { return backward[0] + forward[0]; }
};

}  // namespace weir
