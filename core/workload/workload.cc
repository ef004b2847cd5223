#include "core/workload/workload.h"

#include <algorithm>
#include <limits>

namespace weir {

Range share(Range range, Dtype dtype, int index, int count) {
  const std::int64_t element = size(dtype).count();
  const std::int64_t elements = range.size.count() / element;
  const auto boundary = [&](int i) {
    return Bytes(static_cast<std::int64_t>(static_cast<Wide>(elements) * i / count) * element);
  };
  return {range.offset + boundary(index), boundary(index + 1) - boundary(index)};
}

std::vector<Part> cut(const Part& part, Bytes largest) {
  const Bytes element = size(part.dtype);
  const std::int64_t elements_each = std::max<std::int64_t>(1, largest / element);
  const std::int64_t elements = part.range.size / element;
  const std::int64_t count = (elements + elements_each - 1) / elements_each;
  WEIR_CHECK(count <= std::numeric_limits<int>::max(), count);
  return cut(part, static_cast<int>(count));
}

std::vector<Part> cut(const Part& part, int count) {
  std::vector<Part> parts;
  for (int i = 0; i < count; ++i) {
    Part piece = part;
    piece.range = share(part.range, part.dtype, i, count);
    if (piece.range.size > Bytes(0)) parts.push_back(piece);
  }
  return parts;
}

Workload::Workload(const Trace& trace) : trace_(&trace), layers_(trace.layers.size()) {
  // Every tensor takes a multiple of the largest element size, so that all begin aligned and without gaps.
  for (const Layer& layer : trace.layers) {
    for (const Tensor& tensor : layer.tensors) unit_ = std::max(unit_, weir::size(tensor.dtype));
  }
  for (int layer = layers() - 1; layer >= 0; --layer) {
    Range& range = layers_[static_cast<std::size_t>(layer)];
    range.offset = size_;
    for (const Tensor& tensor : trace.layers[static_cast<std::size_t>(layer)].tensors) {
      const Bytes taken = taken_by(tensor);
      const bool same_run =
          !runs_.empty() && runs_.back().layer == layer && runs_.back().dtype == tensor.dtype;
      if (!same_run) runs_.push_back({{size_, {}}, tensor.dtype, layer});
      runs_.back().range.size += taken;
      size_ += taken;
    }
    range.size = size_ - range.offset;
  }
}

std::vector<Part> Workload::partition(Bytes largest) const {
  std::vector<Part> parts;
  for (const Run& run : runs_) {
    const std::vector<Part> pieces = cut({run.range, run.dtype, run.layer, run.layer, 0}, largest);
    parts.insert(parts.end(), pieces.begin(), pieces.end());
  }
  rank(parts);
  return parts;
}

std::vector<Workload::Whole> Workload::tensors() const {
  std::vector<Whole> tensors;
  int count = 0;
  for (const Layer& layer : trace_->layers) count += static_cast<int>(layer.tensors.size());
  for (int layer = layers() - 1; layer >= 0; --layer) {
    const std::vector<Tensor>& here = trace_->layers[static_cast<std::size_t>(layer)].tensors;
    count -= static_cast<int>(here.size());
    Bytes offset = range(layer).offset;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const Bytes taken = taken_by(here[i]);
      const Part part{{offset, taken}, here[i].dtype, layer, layer, static_cast<int>(i)};
      tensors.push_back({part, count + static_cast<int>(i)});
      offset += taken;
    }
  }
  return tensors;
}

void Workload::rank(std::vector<Part>& parts) const {
  std::vector<int> ranks(layers_.size(), 0);
  for (Part& part : parts) part.rank = ranks[static_cast<std::size_t>(part.first_layer)]++;
}

std::vector<Part> Workload::fuse(Bytes largest) const {
  std::vector<Part> buckets;
  for (const Part& part : partition(largest)) {
    if (!buckets.empty()) {
      Part& last = buckets.back();
      const bool adjacent = last.range.end() == part.range.offset && last.dtype == part.dtype;
      if (adjacent && last.range.size + part.range.size <= largest) {
        last.range.size += part.range.size;
        last.first_layer = part.first_layer;
        continue;
      }
    }
    buckets.push_back(part);
  }
  rank(buckets);
  return buckets;
}

}  // namespace weir
