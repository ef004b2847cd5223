#include "backends/real/drive.h"

#include <algorithm>

#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr Duration kSlice{100'000'000};  // after which deadlines are looked at

Duration longest_computation(const Plan& plan) {
  Duration longest;
  for (const Op& op : plan.ops()) longest = std::max(longest, op.duration);
  return longest;
}

std::string waiting(const Node& node, const Plan& plan) {
  std::string text;
  for (const OpId id : node.outstanding(4)) {
    const Op& op = plan.op(id);
    text += fmt::format(" op {} ({}{});", id, name(op.kind),
                        is_message(op.kind) ? fmt::format(", message {} with machine {}", op.message, op.peer)
                                            : std::string());
  }
  return text;
}

}  // namespace

Result<void> drive(Node& node, RealPort& port, const Plan& plan, const DriveSettings& settings) {
  const Duration patience = settings.patience + longest_computation(plan) * 2;
  Instant last = Clock::monotonic();
  while (!node.finished()) {
    if (node.pump(port)) {
      last = Clock::monotonic();
      continue;
    }
    if (settings.stop != nullptr && *settings.stop) return failure("it was stopped");
    if (port.wait(kSlice)) continue;
    if (Clock::monotonic() - last > patience) {
      return failure(
          fmt::format("nothing has happened for {}; these wait:{}", text(patience), waiting(node, plan)));
    }
  }
  if (node.error()) return tl::unexpected(*node.error());
  return {};
}

}  // namespace weir::real
