#include "studies/bench/collectives.h"

#include <cmath>

#include "backends/real/meters/plain_rate.h"
#include "studies/bench/median.h"

namespace weir {
namespace {

BytesPerSecond over(Bytes bytes, Duration time) {
  return BytesPerSecond(std::llround(static_cast<double>(bytes.count()) / time.seconds()));
}

}  // namespace

Result<CollectiveTimes> measure_collective(const BenchJob& job) {
  const auto times = run(job);
  if (!times) return tl::unexpected(times.error());
  real::PlainSettings how;
  how.processes = job.workers + job.servers;
  how.shared_memory = shares_memory(job.real.transport);
  how.memory = job.gradients;
  const auto plain = real::plain_rate(how);
  if (!plain) return tl::unexpected(plain.error());
  const Duration time = median(times->iterations);
  return CollectiveTimes{
      time,       over(job.gradients, time), over(times->most, time), over(times->moved, time),
      plain->all, times->iterations,         times->settings};
}

}  // namespace weir
