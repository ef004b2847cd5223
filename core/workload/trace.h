// A model as the training framework sees it: layers in forward order, each with tensors and times on one GPU.
#pragma once

#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace weir {

struct Tensor {
  std::string name;
  std::int64_t elements = 0;
  Dtype dtype = Dtype::kF32;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// The bytes of the whole tensor.
inline Bytes size(const Tensor& tensor) { return size(tensor.dtype) * tensor.elements; }

struct Layer {
  std::string name;
  Duration forward;
  Duration backward;
  std::vector<Tensor> tensors;  // those whose gradient is complete after this layer's backward pass
  friend bool operator==(const Layer&, const Layer&) = default;
};

struct Trace {
  std::string name;
  std::string source;             // where the architecture and the times come from
  std::int64_t batch = 1;         // samples per GPU and iteration
  std::string sample = "sample";  // what a sample is: "image", "token"
  std::vector<Layer> layers;
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// The bytes of all tensors.
Bytes size(const Trace& trace);

/// The dtype with the most bytes; on ties, the first in Dtype. f32 if there are no tensors.
Dtype most_common_dtype(const Trace& trace);

/// Forward and backward time of all layers on one GPU.
Duration compute_time(const Trace& trace);

}  // namespace weir
