#include "studies/bench/sums.h"

#include <algorithm>
#include <memory>

#include "backends/real/compute/kernels.h"
#include "backends/real/process/threads.h"

namespace weir {

Result<std::vector<int>> threads_of(const SumSettings& settings) {
  std::vector<int> cpus = real::allowed_cpus();
  if (settings.numa) {
    const auto near = real::cpus_of(*settings.numa);
    if (!near) return tl::unexpected(near.error());
    cpus = *near;
  }
  if (!settings.threads.empty()) return settings.threads;
  const int all = static_cast<int>(cpus.size());
  return all > 1 ? std::vector{1, all} : std::vector{1};
}

Result<MeasuredSums> measure_sums(const SumSettings& settings, const SumEvents& events) {
  const int most = *std::max_element(settings.sources.begin(), settings.sources.end());
  std::vector<std::unique_ptr<real::Team>> teams;
  for (const int count : settings.threads) {
    auto team = real::Team::make(count, settings.numa);
    if (!team) return tl::unexpected(team.error());
    teams.push_back(std::move(*team));
  }
  auto meter = real::SumMeter::make({settings.size, most, settings.numa});
  if (!meter) return tl::unexpected(meter.error());
  MeasuredSums measured{{}, (*meter)->memory(), (*meter)->huge()};
  if (events.begun) events.begun(measured.memory, measured.huge);
  for (const Dtype dtype : settings.dtypes) {
    for (const auto& team : teams) {
      for (const int sources : settings.sources) {
        measured.rates.push_back((*meter)->measure(dtype, sources, *team, settings.repetitions));
        if (events.rate) events.rate(measured.rates.back());
      }
    }
  }
  return measured;
}

}  // namespace weir
