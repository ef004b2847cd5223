// The fields of trace files (fields.h says how such functions are used).
#pragma once

#include <array>

#include "core/document/fields.h"
#include "core/workload/trace.h"

namespace weir {

inline auto enum_names(Dtype /*dtype*/) {
  const auto named = [](Dtype dtype) { return Named<Dtype>{dtype, name(dtype)}; };
  return std::array<Named<Dtype>, 6>{{named(Dtype::kF16), named(Dtype::kBf16), named(Dtype::kF32),
                                      named(Dtype::kF64), named(Dtype::kI32), named(Dtype::kI64)}};
}

template <class Visitor>
void fields(Visitor& visitor, Tensor& tensor) {
  visitor.required("name", tensor.name, "what the framework calls it", spelt(Spelling::kLabel));
  visitor.required("elements", tensor.elements, "how many numbers it holds", within(1, 1e12));
  visitor.optional("dtype", tensor.dtype, "the type of its elements");
}

template <class Visitor>
void fields(Visitor& visitor, Layer& layer) {
  visitor.required("name", layer.name, "what reports and timelines call it", spelt(Spelling::kLabel));
  visitor.required("forward", layer.forward, "the time of its forward pass on one GPU");
  visitor.required("backward", layer.backward, "the time of its backward pass on one GPU");
  visitor.optional("tensors", layer.tensors, "the tensors whose gradients its backward pass completes");
}

template <class Visitor>
void fields(Visitor& visitor, Trace& trace) {
  visitor.required("name", trace.name, "what reports call the model", spelt(Spelling::kLabel));
  visitor.optional("source", trace.source, "where the architecture and the times come from");
  visitor.optional("batch", trace.batch, "how many samples one GPU handles in an iteration", within(1, 1e9));
  visitor.optional("sample", trace.sample, "what a sample is called: 'image', 'token'",
                   spelt(Spelling::kLabel));
  visitor.required("layers", trace.layers, "the layers in forward order");
}

}  // namespace weir
