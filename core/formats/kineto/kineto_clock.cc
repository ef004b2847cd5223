#include "core/formats/kineto/kineto_clock.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace weir::kineto {
namespace {

// Merges spans into an ordered list in which none touches the next.
std::vector<Span> merged(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!all.empty() && span.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, span.end);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

}  // namespace

Clock::Clock(const Recording& recording, const Iteration& iteration) {
  follow_stream(recording);
  match_kernels(recording);
  std::vector<Span> collectives;
  std::vector<Span> work;
  for (const GpuWork& one : recording.work) (one.collective ? collectives : work).push_back(one.span);
  if (recording.work.empty()) {
    work = iteration.busy;
    for (const Collective& one : recording.collectives) {
      if (one.ran) collectives.push_back(one.span);
    }
  }
  expose(merged(std::move(collectives)), merged(std::move(work)));
}

// Follows the stream that computed most. Other streams copy data ahead of time.
void Clock::follow_stream(const Recording& recording) {
  std::map<int, Duration> busy;
  for (const GpuWork& one : recording.work) {
    if (!one.collective) busy[one.stream] += one.span.end - one.span.begin;
  }
  if (busy.empty()) return;
  const int stream = std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  Duration all;
  for (const auto& [other, time] : busy) all += time;
  if (busy[stream] > Duration(0)) elsewhere_ = all / busy[stream] - 1;
  std::unordered_map<std::int64_t, Instant> launches;
  for (const Launch& launch : recording.launches) launches.emplace(launch.correlation, launch.at);
  for (const GpuWork& one : recording.work) {
    if (one.stream != stream || one.collective) continue;
    const auto launch = launches.find(one.correlation);
    if (launch == launches.end()) {
      unlaunched_.push_back(one.span.begin);
    } else {
      launched_.push_back({launch->second, one.span.begin, one.span.end});
    }
  }
  std::sort(launched_.begin(), launched_.end(), [](const Launched& a, const Launched& b) {
    return std::tuple(a.at, a.begin) < std::tuple(b.at, b.begin);
  });
  for (std::size_t i = 1; i < launched_.size(); ++i)
    launched_[i].end = std::max(launched_[i].end, launched_[i - 1].end);
}

void Clock::match_kernels(const Recording& recording) {
  std::unordered_set<std::int64_t> ran;
  for (const GpuWork& one : recording.work) ran.insert(one.correlation);
  for (const Launch& launch : recording.launches) {
    if (launch.kernel) kernels_.push_back({launch.at, ran.contains(launch.correlation)});
  }
}

void Clock::expose(const std::vector<Span>& collectives, const std::vector<Span>& work) {
  std::size_t next = 0;
  for (const Span& collective : collectives) {
    while (next < work.size() && work[next].end <= collective.begin) ++next;
    Instant from = collective.begin;
    for (std::size_t i = next; i < work.size() && work[i].begin < collective.end; ++i) {
      if (work[i].begin > from) exposed_.push_back({from, work[i].begin});
      from = std::max(from, work[i].end);
    }
    if (from < collective.end) exposed_.push_back({from, collective.end});
  }
}

Instant Clock::begin(Instant cpu) const {
  if (!gpu()) return cpu;
  const auto at = std::lower_bound(launched_.begin(), launched_.end(), cpu,
                                   [](const Launched& one, Instant when) { return one.at < when; });
  return at == launched_.end() ? launched_.back().end : at->begin;
}

Instant Clock::end(Instant cpu) const {
  if (!gpu()) return cpu;
  const auto at = std::lower_bound(launched_.begin(), launched_.end(), cpu,
                                   [](const Launched& one, Instant when) { return one.at < when; });
  return at == launched_.begin() ? at->begin : std::prev(at)->end;
}

Clock::Kernels Clock::kernels(Instant from, Instant to) const {
  Kernels count;
  for (const Kernel& kernel : kernels_) {
    if (kernel.at < from || kernel.at >= to) continue;
    ++count.launched;
    if (!kernel.recorded) ++count.missing;
  }
  return count;
}

Clock::Began Clock::work(Instant from, Instant to) const {
  const auto inside = [&](Instant at) { return from <= at && at < to; };
  const auto unlaunched = static_cast<std::size_t>(std::ranges::count_if(unlaunched_, inside));
  const auto launched = static_cast<std::size_t>(std::ranges::count_if(launched_, inside, &Launched::begin));
  return {launched + unlaunched, unlaunched};
}

Duration Clock::computing(Instant from, Instant to) const {
  if (to <= from) return {};
  Duration time = to - from;
  auto at = std::lower_bound(exposed_.begin(), exposed_.end(), from,
                             [](const Span& span, Instant when) { return span.end <= when; });
  for (; at != exposed_.end() && at->begin < to; ++at) {
    time = time - (std::min(at->end, to) - std::max(at->begin, from));
  }
  return time;
}

}  // namespace weir::kineto
