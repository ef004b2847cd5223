#include "backends/real/compute/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace weir::real {
namespace {

constexpr std::size_t kStep = 11;  // from one element to the next

// Of a binary floating-point format, or of an integer.
struct Format {
  int mantissa;  // number of bits; 0 for integers
  int bias;
  std::size_t exact;  // all whole numbers up to this one are exact
};

Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return {10, 15, 2048};
    case Dtype::kBf16:
      return {7, 127, 256};
    case Dtype::kF32:
      return {23, 127, 1 << 24};
    case Dtype::kF64:
      return {52, 1023, 1 << 24};
    case Dtype::kI32:
    case Dtype::kI64:
      break;
  }
  return {0, 0, 1 << 24};
}

std::uint64_t encode(std::uint64_t value, Dtype dtype) {
  const Format format = format_of(dtype);
  if (format.mantissa == 0 || value == 0) return value;
  const int exponent = static_cast<int>(std::bit_width(value)) - 1;
  const std::uint64_t fraction =
      (value << (format.mantissa - exponent)) & ((std::uint64_t{1} << format.mantissa) - 1);
  return (static_cast<std::uint64_t>(exponent + format.bias) << format.mantissa) | fraction;
}

double decode(std::uint64_t bits, Dtype dtype) {
  const Format format = format_of(dtype);
  if (format.mantissa == 0) {
    return dtype == Dtype::kI32 ? static_cast<std::int32_t>(bits)
                                : static_cast<double>(static_cast<std::int64_t>(bits));
  }
  const int width = 8 * static_cast<int>(size(dtype).count());
  const bool negative = ((bits >> (width - 1)) & 1) != 0;
  const auto exponent =
      static_cast<int>((bits >> format.mantissa) & ((1ULL << (width - 1 - format.mantissa)) - 1));
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.mantissa) - 1);
  const double one = std::ldexp(1.0, -format.mantissa);
  const double significand = static_cast<double>(fraction) * one + (exponent > 0 ? 1.0 : 0.0);
  const double value = std::ldexp(significand, std::max(exponent, 1) - format.bias);
  return negative ? -value : value;
}

// Little-endian, like all machines that Weir runs on.
void append(std::uint64_t bits, Dtype dtype, std::vector<std::byte>& into) {
  for (int i = 0; i < size(dtype).count(); ++i)
    into.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xff));
}

}  // namespace

Gradients::Gradients(const Plan& plan, const Workload& workload, const Buffers& buffers)
    : plan_(&plan), buffers_(&buffers), by_layer_(static_cast<std::size_t>(workload.layers())) {
  for (const Workload::Whole& tensor : workload.tensors()) {
    by_layer_[static_cast<std::size_t>(tensor.part.first_layer)].push_back(tensors_.size());
    const Layer& layer = workload.layer(tensor.part.first_layer);
    const auto& [name, elements, dtype] = layer.tensors[static_cast<std::size_t>(tensor.part.rank)];
    tensors_.push_back({tensor.part, static_cast<std::size_t>(tensor.tensor), elements,
                        fmt::format("'{}' of layer '{}'", name, layer.name)});
  }
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.role != Buffer::Role::kGradient) continue;
    for (int gpu = 0; gpu < buffer.replicas; ++gpu) writers_.emplace_back(buffer.machine, gpu);
  }
}

// How many different numbers each writer may use so that the sums over all writers are exact. At least 2.
std::size_t Gradients::span(Dtype dtype) const {
  return std::clamp<std::size_t>(format_of(dtype).exact / std::max<std::size_t>(writers_.size(), 1), 2, 64);
}

std::size_t Gradients::phase(std::size_t writer, std::uint64_t iteration, std::size_t tensor) const {
  return writer * 7 + static_cast<std::size_t>(iteration) * 5 + tensor * 3;
}

void Gradients::compute(const Op& op, std::uint64_t iteration) {
  if (op.layer < 0) return;
  for (const std::size_t index : by_layer_[static_cast<std::size_t>(op.layer)]) {
    if (makes_gradients(op.kind)) write(op, tensors_[index], iteration);
    if (takes_sums(op.kind)) check(op, tensors_[index], iteration);
  }
}

void Gradients::write(const Op& op, const Tensor& tensor, std::uint64_t iteration) {
  const Dtype dtype = tensor.part.dtype;
  const std::size_t span = this->span(dtype);
  for (std::size_t writer = 0; writer < writers_.size(); ++writer) {
    if (writers_[writer].first != op.machine) continue;
    std::vector<std::byte> period;
    for (std::size_t i = 0; i < span; ++i) {
      append(encode((phase(writer, iteration, tensor.number) + i * kStep) % span, dtype), dtype, period);
    }
    const Extent extent{op.into.buffer, writers_[writer].second, tensor.part.range};
    const auto home = buffers_->bytes(extent);
    const bool away = buffers_->on_gpu(op.into.buffer);
    std::vector<std::byte> copy(away ? home.size() : 0);
    const std::span<std::byte> bytes = away ? std::span(copy) : home;
    for (std::size_t at = 0; at < bytes.size(); at += period.size()) {
      std::memcpy(&bytes[at], period.data(), std::min(period.size(), bytes.size() - at));
    }
    if (!away) continue;
    if (const auto copied = buffers_->store(copy, extent); !copied) take_for_wrong(copied.error().text);
  }
}

void Gradients::check(const Op& op, const Tensor& tensor, std::uint64_t iteration) {
  const Dtype dtype = tensor.part.dtype;
  const std::size_t span = this->span(dtype);
  std::vector<std::byte> period;
  std::vector<double> sums(span, 0.0);
  for (std::size_t i = 0; i < span; ++i) {
    for (std::size_t writer = 0; writer < writers_.size(); ++writer) {
      sums[i] += static_cast<double>((phase(writer, iteration, tensor.number) + i * kStep) % span);
    }
    append(encode(static_cast<std::uint64_t>(sums[i]), dtype), dtype, period);
  }
  for (const auto& [machine, gpu] : writers_) {
    if (machine != op.machine) continue;
    const Extent extent{op.from.buffer, gpu, tensor.part.range};
    auto bytes = buffers_->bytes(extent);
    std::vector<std::byte> copy;
    if (buffers_->on_gpu(op.from.buffer)) {
      copy.resize(bytes.size());
      if (const auto copied = buffers_->load(extent, copy); !copied)
        return take_for_wrong(copied.error().text);
      bytes = copy;
    }
    for (std::size_t at = 0; at < bytes.size(); at += period.size()) {
      const std::size_t count = std::min(period.size(), bytes.size() - at);
      if (std::memcmp(&bytes[at], period.data(), count) == 0) continue;
      look_closer(
          bytes.subspan(at, count), dtype, sums, at / static_cast<std::size_t>(size(dtype).count()),
          fmt::format("{} on machine {}, GPU {}, iteration {}", tensor.name, machine, gpu, iteration));
    }
    checked_ += tensor.elements;
  }
}

// If sums are not exact, values may differ a little from what they should be.
void Gradients::look_closer(std::span<const std::byte> bytes, Dtype dtype, const std::vector<double>& sums,
                            std::size_t first, const std::string& whose) {
  const auto width = static_cast<std::size_t>(size(dtype).count());
  const bool exact = writers_.size() * (sums.size() - 1) <= format_of(dtype).exact;
  const double tolerance = exact ? 0.0 : static_cast<double>(writers_.size()) / 64;
  for (std::size_t i = 0; i * width < bytes.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * width], width);
    const double value = decode(bits, dtype);
    if (std::abs(value - sums[i]) <= tolerance) continue;
    return take_for_wrong(
        fmt::format("element {} of {} is {} instead of {}", first + i, whose, value, sums[i]));
  }
}

void Gradients::take_for_wrong(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (wrong_.empty()) wrong_ = what;
}

std::string Gradients::wrong() const {
  const std::lock_guard lock(mutex_);
  return wrong_;
}

}  // namespace weir::real
