#include "backends/real/meters/sum_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/real/compute/kernels.h"
#include "backends/real/meters/memory_loops.h"
#include "core/base/check.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr int kTargets = 2;
constexpr std::int64_t kLine = 64;

// Bytes that are normal numbers in every type; sums of denormals would be slower.
constexpr int kFilling = 0x3C;

// The member's part of each operand, in whole cache lines.
struct Part {
  std::int64_t begin;
  Bytes size;
};

Part part_of(Bytes size, int member, int members) {
  const std::int64_t lines = size.count() / kLine;
  const std::int64_t begin = lines * member / members * kLine;
  const std::int64_t end = lines * (member + 1) / members * kLine;
  return {begin, Bytes(end - begin)};
}

Duration median(std::vector<Duration> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

BytesPerSecond rate(Bytes bytes, Duration time) {
  const double seconds = std::max(time, Duration(1)).seconds();
  return BytesPerSecond(static_cast<std::int64_t>(static_cast<double>(bytes.count()) / seconds));
}

}  // namespace

SumMeter::SumMeter(Bytes size, std::unique_ptr<Pages> pages) : size_(size), pages_(std::move(pages)) {}

Result<std::unique_ptr<SumMeter>> SumMeter::make(const Settings& settings) {
  WEIR_CHECK(settings.sources >= 1 && settings.sources <= kMostSources, settings.sources);
  const Bytes size = settings.size;
  if (size < Bytes(kLine) || size.count() % kLine != 0) {
    return failure(fmt::format("operands of {} are not a multiple of {}B; try 64MiB", text(size), kLine));
  }
  const int operands = kTargets + settings.sources;
  if (size > Bytes(INT64_MAX / operands)) {
    return failure(fmt::format("{} operands of {} exceed any memory; try 64MiB", operands, text(size)));
  }
  auto pages = Pages::make(size * operands, {.numa = settings.numa});
  if (!pages) return tl::unexpected(pages.error());
  std::memset((*pages)->data(), kFilling, static_cast<std::size_t>((*pages)->size().count()));
  return std::unique_ptr<SumMeter>(new SumMeter(size, std::move(*pages)));
}

std::byte* SumMeter::operand(int index) const { return pages_->data() + index * size_.count(); }

SumRate SumMeter::measure(Dtype dtype, int sources, Team& team, int repetitions) {
  WEIR_CHECK(repetitions >= 1, repetitions);
  WEIR_CHECK((kTargets + sources) * size_ <= pages_->size(), sources);
  std::memset(operand(0), kFilling, static_cast<std::size_t>(size_.count()));
  const auto pass = [&](int member, const auto& kernel, std::byte* into) {
    const Part part = part_of(size_, member, team.members());
    std::array<const std::byte*, kMostSources> from{};
    for (int i = 0; i < sources; ++i) from[static_cast<std::size_t>(i)] = operand(kTargets + i) + part.begin;
    kernel(into + part.begin, std::span(from).first(static_cast<std::size_t>(sources)), part.size);
  };
  const Team::Work loop = [&](int member) { pass(member, pass_memory, operand(1)); };
  const Team::Work sum = [&](int member) {
    pass(
        member, [&](auto... operands) { add(dtype, operands...); }, operand(0));
  };
  std::vector<Duration> loops;
  std::vector<Duration> sums;
  for (int i = 0; i <= repetitions; ++i) {
    const Duration looped = team.run(loop);
    const Duration summed = team.run(sum);
    if (i == 0) continue;  // caches and clock rates settle
    loops.push_back(looped);
    sums.push_back(summed);
  }
  const Bytes summed = size_ * sources;
  return {dtype, sources, team.members(), rate(summed, median(sums)), rate(summed, median(loops))};
}

}  // namespace weir::real
