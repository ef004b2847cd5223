#include "core/plan/proof.h"

#include "core/plan/fit.h"
#include "core/plan/order.h"
#include "core/plan/race.h"
#include "core/plan/structure.h"
#include "core/plan/sums.h"

namespace weir {

Result<Proof> prove(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  if (const ProofErrors findings = structure_findings(plan); !findings.empty()) {
    return tl::unexpected(findings.error());
  }
  if (const ProofErrors findings = fit_findings(plan, cluster, workload); !findings.empty()) {
    return tl::unexpected(findings.error());
  }
  const Result<Order> order = Order::of(plan);
  if (!order) return tl::unexpected(order.error());

  const Races raced = races(plan, *order);
  const Result<Bytes> right = summed(plan, *order);
  std::string errors;
  const auto add = [&](const Error& error) { errors += (errors.empty() ? "" : "\n") + error.text; };
  if (!raced.findings.empty()) add(raced.findings.error());
  if (!right) add(right.error());
  if (!errors.empty()) return failure(errors);
  return Proof{plan.ops().size(), plan.messages().size(), raced.ordered, *right};
}

}  // namespace weir
