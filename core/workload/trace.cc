#include "core/workload/trace.h"

namespace weir {

Bytes size(const Trace& trace) {
  Bytes total;
  for (const Layer& layer : trace.layers) {
    for (const Tensor& tensor : layer.tensors) total += size(tensor);
  }
  return total;
}

Duration compute_time(const Trace& trace) {
  Duration total;
  for (const Layer& layer : trace.layers) total += layer.forward + layer.backward;
  return total;
}

}  // namespace weir
