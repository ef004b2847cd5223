// What one iteration must communicate: the tensors of the trace in one gradient buffer, and that buffer cut
// or fused into parts to send.
#pragma once

#include <algorithm>
#include <vector>

#include "core/workload/trace.h"

namespace weir {

/// A contiguous run of bytes in the gradient buffer.
struct Range {
  Bytes offset;
  Bytes size;
  Bytes end() const { return offset + size; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The priority of the layer's most urgent part.
constexpr std::int64_t layer_priority(int layer) { return std::int64_t{layer} << 32; }

/// A run of gradient bytes of one dtype that is sent as one. A part cut from a tensor belongs to one layer; a
/// fused bucket may span several.
struct Part {
  Range range;
  Dtype dtype = Dtype::kF32;
  int first_layer = 0;  // the layer nearest the input. The part is ready when its backward ends, which is
                        // last; the sum is needed when its forward starts, which is first
  int last_layer = 0;   // the layer nearest the output
  int rank = 0;         // its place among the parts of its first layer

  /// Smaller is more urgent. Orders by the layer that needs the part first, then by rank, so that all
  /// machines serve the parts of a layer in the same order.
  std::int64_t priority() const { return layer_priority(first_layer) + rank; }
};

/// The gradient buffer of a trace. It holds layers in the order in which their gradients become ready, the
/// last layer first. So tensors that are ready together can be fused without a copy. Tensors start at
/// multiples of their element size. The trace must outlive the workload.
class Workload {
 public:
  explicit Workload(const Trace& trace);

  const Trace& trace() const { return *trace_; }
  int layers() const { return static_cast<int>(trace_->layers.size()); }
  const Layer& layer(int index) const { return trace_->layers[static_cast<std::size_t>(index)]; }

  /// The bytes of the gradient buffer.
  Bytes size() const { return size_; }
  /// The place of the layer's tensors in the buffer; empty if it has none.
  Range range(int layer) const { return layers_[static_cast<std::size_t>(layer)]; }

  /// The parts of the buffer in order of readiness. Neighbouring tensors of one layer and dtype are ready
  /// together, so they are cut as one: into the fewest parts of at most `largest` bytes, equal to within an
  /// element.
  std::vector<Part> partition(Bytes largest) const;

  /// Every tensor as one part, in order of readiness.
  struct Whole {
    Part part;
    int tensor = 0;  // counted in the order of the trace
  };
  std::vector<Whole> tensors() const;

  /// Neighbouring tensors of one dtype fused into buckets of at most `largest` bytes, in order of readiness.
  /// Larger tensors are cut.
  std::vector<Part> fuse(Bytes largest) const;

  /// Sets the rank of each part: its place among the parts of its first layer, in their given order.
  void rank(std::vector<Part>& parts) const;

 private:
  struct Run {  // of neighbouring tensors
    Range range;
    Dtype dtype;
    int layer;
  };
  Bytes taken_by(const Tensor& tensor) const {
    return unit_ * ((weir::size(tensor).count() + unit_.count() - 1) / unit_.count());
  }

  const Trace* trace_;
  Bytes unit_ = Bytes(1);  // the largest element
  Bytes size_;
  std::vector<Range> layers_;
  std::vector<Run> runs_;  // in order of readiness
};

/// The part cut into the fewest parts of at most `largest` bytes, equal to within an element.
std::vector<Part> cut(const Part& part, Bytes largest);
/// The part cut into `count` parts, equal to within an element; empty ones are left out.
std::vector<Part> cut(const Part& part, int count);

/// Share number `index` of the range, out of `count` shares that are equal to within an element. Shares begin
/// and end between elements, and together cover the range.
Range share(Range range, Dtype dtype, int index, int count);

}  // namespace weir
