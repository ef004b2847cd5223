#include "core/plan/proof.h"

#include <algorithm>
#include <vector>

#include "core/plan/order.h"
#include "core/plan/print.h"
#include "core/plan/race.h"
#include "core/plan/structure.h"
#include "core/plan/sums.h"
#include "core/workload/workload.h"

namespace weir {
namespace {

// Gradients that no forward of their machine reads; nothing would be shown about them.
Findings unread(const Plan& plan) {
  Findings findings;
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    std::vector<Range> reads;
    for (const Op& op : plan.ops(MachineId(machine))) {
      if (op.kind == OpKind::kForward) reads.push_back({op.from.offset, op.from.size});
    }
    std::ranges::sort(reads, {}, &Range::offset);
    for (const Op& op : plan.ops(MachineId(machine))) {
      if (op.kind != OpKind::kBackward) continue;
      Bytes at = op.into.offset;
      for (const Range& read : reads) {
        if (read.offset <= at && at < read.end()) at = read.end();
      }
      if (at >= op.into.end()) continue;
      findings.add(fmt::format("{}: no forward of its machine reads the byte at {} of {}", words(op),
                               at.count(), text(plan, op.into)));
    }
  }
  return findings;
}

}  // namespace

Result<Proof> prove(const Plan& plan) {
  if (const Findings findings = structure_findings(plan); !findings.empty()) {
    return tl::unexpected(findings.error());
  }
  const Result<Order> order = Order::of(plan);
  if (!order) return tl::unexpected(order.error());

  const Races raced = races(plan, *order);
  const Result<Bytes> right = summed(plan, *order);
  const Findings forgotten = unread(plan);
  std::string errors;
  const auto add = [&](const Error& error) { errors += (errors.empty() ? "" : "\n") + error.text; };
  if (!raced.findings.empty()) add(raced.findings.error());
  if (!right) add(right.error());
  if (!forgotten.empty()) add(forgotten.error());
  if (!errors.empty()) return failure(errors);
  return Proof{plan.ops().size(), plan.messages().size(), raced.ordered, *right};
}

}  // namespace weir
