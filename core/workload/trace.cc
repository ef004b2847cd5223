#include "core/workload/trace.h"

#include <algorithm>
#include <map>

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

Dtype most_common_dtype(const Trace& trace) {
  std::map<Dtype, Bytes> bytes;
  for (const Layer& layer : trace.layers) {
    for (const Tensor& tensor : layer.tensors) bytes[tensor.dtype] += size(tensor);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? Dtype::kF32 : most->first;
}

}  // namespace weir
