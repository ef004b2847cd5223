#include "studies/real/measure_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "backends/real/compute/gpu/gpu_facts.h"
#include "backends/real/meters/copy_meter.h"
#include "backends/real/meters/sum_meter.h"
#include "backends/real/process/threads.h"
#include "core/base/units_text.h"
#include "core/hardware/work.h"

namespace weir {
namespace {

using real::HostParts;

constexpr Bytes kOperand(64 << 20);
constexpr int kOneSource = 1;
constexpr int kRepetitions = 9;
constexpr std::array kDtypes = {Dtype::kF16, Dtype::kBf16, Dtype::kF32,
                                Dtype::kF64, Dtype::kI32,  Dtype::kI64};

/// Rounded to three digits, which suits a measured value in a file.
BytesPerSecond sensible(BytesPerSecond rate) {
  std::int64_t unit = 1;
  while (rate.value() / unit >= 1000) unit *= 10;
  return BytesPerSecond((rate.value() + unit / 2) / unit * unit);
}

/// Measures the node. Leaves the calling thread bound to the node's CPUs.
Result<void> measure(HostParts::Numa& numa, const Notice& notice) {
  const auto cpus = real::cpus_of(numa.number);
  if (!cpus) return tl::unexpected(cpus.error());
  auto team = real::Team::make(static_cast<int>(cpus->size()), numa.number);
  if (!team) return tl::unexpected(team.error());
  auto meter = real::SumMeter::make({kOperand, kOneSource, numa.number});
  if (!meter) return tl::unexpected(meter.error());
  SumRates rates;
  std::vector<std::string> words;
  for (const Dtype dtype : kDtypes) {
    const real::SumRate measured = (*meter)->measure(dtype, kOneSource, **team, kRepetitions);
    rates.by_dtype[dtype] = sensible(measured.rate);
    words.push_back(fmt::format("{} {}", name(dtype), rounded_in_bytes(measured.rate)));
    if (dtype == Dtype::kF32)
      numa.memory_rate = sensible(BytesPerSecond(kPassesOfSum * measured.limit.value()));
  }
  // Other types are assumed to be as slow as the slowest.
  rates.other =
      std::min_element(rates.by_dtype.begin(), rates.by_dtype.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  numa.sum_rate = rates;
  notify(notice, fmt::format("NUMA node {}, {} threads: sums {}; memory {}", numa.number, cpus->size(),
                             fmt::join(words, ", "), rounded_in_bytes(*numa.memory_rate)));
  return {};
}

void measure_copies(HostParts& parts, const Notice& notice) {
  if (parts.gpus.empty()) return;
  const auto ids = real::gpu_ids();
  if (!ids) {
    notify(notice, fmt::format("copies of GPUs are not measured: {}", ids.error().text));
    return;
  }
  for (std::size_t i = 0; i < parts.gpus.size(); ++i) {
    HostParts::Gpu& gpu = parts.gpus[i];
    const auto device = std::find(ids->begin(), ids->end(), gpu.place.id);
    if (device == ids->end()) {
      notify(notice,
             fmt::format("copies of GPU {} are not measured: CUDA does not show it to this process", i));
      continue;
    }
    real::CopySettings settings;
    settings.device = static_cast<int>(device - ids->begin());
    const auto copied = real::measure_copies(settings);
    if (!copied) {
      notify(notice, fmt::format("copies of GPU {} are not measured: {}", i, copied.error().text));
      continue;
    }
    const BytesPerSecond rate = sensible(copied->plain);
    gpu.copies = Rates{rate, rate};
    notify(notice, fmt::format("GPU {} copies {} each way, both ways at once", i, rounded_in_bytes(rate)));
  }
}

}  // namespace

Result<void> measure_parts(HostParts& parts, const Notice& notice) {
  for (HostParts::Numa& numa : parts.numas) {
    if (numa.cores == 0) continue;
    Result<void> measured;
    std::thread([&] { measured = measure(numa, notice); }).join();
    if (!measured) return measured;
  }
  measure_copies(parts, notice);
  return {};
}

}  // namespace weir
