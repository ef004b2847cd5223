#include "apps/weir/planned.h"

#include <fmt/format.h>

#include "core/strategies/strategy.h"

namespace weir {

Result<Plan> planned(const std::string& name, const Contender& contender, const Cluster& cluster,
                     const Workload& workload) {
  const auto& [strategy, options] = contender;
  if (const auto fits = check_size(*strategy, cluster, workload, options); !fits) {
    return failure(fmt::format("{}: {}", name, fits.error().text));
  }
  auto plan = strategy->plan(cluster, workload, options);
  if (!plan) return failure(fmt::format("{}: {}", name, plan.error().text));
  return plan;
}

}  // namespace weir
