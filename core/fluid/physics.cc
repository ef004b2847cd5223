#include "core/fluid/physics.h"

#include <limits>

namespace weir {
namespace {

constexpr double kTolerance = 1e-6;  // relative, of doubles added many times
// What engines may leave of a flow that ends, in bytes.
constexpr double kLeft = 1e-4;
// What the difference of two of an engine's instants may be off, the later of which is this.
double clock_error(double now) { return 1e-11 + now * std::numeric_limits<double>::epsilon(); }

double rate(const Plan& plan, const Link& link) {
  return static_cast<double>(reached_rate(plan, link).value());
}

}  // namespace

Physics::Physics(const Plan& plan, const Cluster& cluster, const WorkTable& works, double precision)
    : plan_(&plan),
      cluster_(&cluster),
      works_(&works),
      tolerance_(kTolerance + precision),
      uses_(cluster.links().size()),
      started_(plan.ops().size(), 0.0) {}

void Physics::flow_started(OpId op, double now) {
  started_[op.index()] = now;
  for (const LinkUse& use : works_->paths()[static_cast<std::size_t>(works_->of(op).path)]) {
    Use& link = uses_[use.link.index()];
    if (link.flows++ == 0) link.since = now;
  }
}

void Physics::flow_ended(OpId op, double now) {
  now_ = now;
  const double seconds = now - started_[op.index()];
  const auto bytes = static_cast<double>(works_->of(op).size.count());
  for (const LinkUse& use : works_->paths()[static_cast<std::size_t>(works_->of(op).path)]) {
    Use& link = uses_[use.link.index()];
    const double carried = bytes * use.weight;
    const double left = kLeft * use.weight;
    link.bytes += carried;
    link.left += left;
    link.ends += 1.0;
    if (--link.flows == 0) link.busy += link.factor * (now - link.since);
    const double possible =
        rate(*plan_, cluster_->link(use.link)) * (seconds * (1 + tolerance_) + clock_error(now));
    if (carried - left > possible && violation_.empty()) {
      violation_ = fmt::format("op {} moved {} bytes over {} in {} s, faster than its rate allows, {} B/s",
                               op, carried, cluster_->link(use.link).name, seconds,
                               rate(*plan_, cluster_->link(use.link)));
    }
  }
}

void Physics::link_scaled(LinkId link, double factor, double now) {
  Use& use = uses_[link.index()];
  if (use.flows > 0) use.busy += use.factor * (now - use.since);
  use.since = now;
  use.factor = factor;
}

Result<void> Physics::verdict(int iterations) const {
  if (!violation_.empty()) return failure("the simulation broke physics: " + violation_);
  const std::vector<Bytes> planned = link_loads(*plan_, *cluster_, *works_);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const Use& use = uses_[i];
    const Link& link = cluster_->links()[i];
    if (use.bytes - use.left >
        rate(*plan_, link) * (use.busy * (1 + tolerance_) + use.ends * clock_error(now_))) {
      return failure(fmt::format("the simulation broke physics: {} carried {} bytes in {} s of use",
                                 link.name, use.bytes, use.busy));
    }
    const double expected = static_cast<double>(planned[i].count()) * iterations;
    if (std::abs(use.bytes - expected) > kTolerance * expected) {
      return failure(fmt::format("the simulation lost bytes: {} carried {} bytes where the plan moves {}",
                                 link.name, use.bytes, expected));
    }
  }
  return {};
}

}  // namespace weir
