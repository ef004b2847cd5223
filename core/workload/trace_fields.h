// The fields of trace files (fields.h says how such functions are used).
#pragma once

#include "core/document/dtype_fields.h"
#include "core/document/fields.h"
#include "core/workload/trace.h"

namespace weir {

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
