#include "backends/real/port/drive.h"

#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr Duration kTick{100'000'000};  // how often deadlines are checked

std::string waiting(const Node& node, const Plan& plan, const Cluster& cluster) {
  std::string text;
  for (const OpId id : node.outstanding(4)) {
    const Op& op = plan.op(id);
    text += fmt::format(" op {} ({}{});", id, name(op.kind),
                        is_message(op.kind)
                            ? fmt::format(", message {} with {}", op.message, cluster.machine(op.peer).name)
                            : std::string());
  }
  return text;
}

}  // namespace

Result<void> drive(Node& node, RealPort& port, const Plan& plan, const Cluster& cluster,
                   const DriveSettings& settings) {
  Instant last = Clock::monotonic();
  Instant ticked = last;
  std::int64_t moved = port.moved();
  while (!node.finished()) {
    const bool worked = node.pump(port);
    const Instant now = Clock::monotonic();
    if (worked || port.moved() != moved) last = now;
    moved = port.moved();
    if (settings.tick && now - ticked >= kTick) {
      ticked = now;
      if (auto well = settings.tick(); !well) return well;
    }
    if (now - last > settings.patience) {
      return failure(fmt::format("nothing has happened for {}; these wait:{}", rounded(settings.patience),
                                 waiting(node, plan, cluster)));
    }
    if (!worked) port.wait(kTick);
  }
  if (node.error()) return tl::unexpected(*node.error());
  return {};
}

}  // namespace weir::real
