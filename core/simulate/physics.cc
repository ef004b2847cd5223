#include "core/simulate/physics.h"

#include <limits>

namespace weir {
namespace {

constexpr double kTolerance = 1e-6;  // relative, of doubles added many times
// The bytes that engines may leave unmoved when a flow ends.
constexpr double kLeft = 1e-4;
// The possible error of the difference of two engine instants, the later of which is `now`.
double clock_error(double now) { return 1e-11 + now * std::numeric_limits<double>::epsilon(); }

}  // namespace

Physics::Physics(const Cluster& cluster, const std::vector<double>& rates, double precision)
    : cluster_(&cluster), tolerance_(kTolerance + precision), uses_(rates.size()) {
  for (std::size_t i = 0; i < rates.size(); ++i) uses_[i].rate = rates[i];
}

void Physics::flow_started(std::uint32_t id, PathView path, double now) {
  if (started_.size() <= id) started_.resize(id + 1, 0.0);
  started_[id] = now;
  for (const LinkUse& use : path) {
    Use& link = uses_[use.link.index()];
    if (link.flows++ == 0) link.since = now;
  }
}

void Physics::flow_ended(std::uint32_t id, PathView path, Bytes bytes, double now) {
  const double seconds = now - started_[id];
  for (const LinkUse& use : path) {
    Use& link = uses_[use.link.index()];
    const double carried = static_cast<double>(bytes.count()) * use.weight;
    const double left = kLeft * use.weight;
    link.bytes += carried;
    link.left += left;
    link.ends += 1.0;
    if (--link.flows == 0) link.busy += link.factor * (now - link.since);
    const double possible = link.rate * (seconds * (1 + tolerance_) + clock_error(now));
    if (carried - left > possible && violation_.empty()) {
      violation_ = fmt::format("flow {} moved {} bytes over {} in {} s, faster than its rate allows, {} B/s",
                               id, carried, cluster_->link(use.link).name, seconds, link.rate);
    }
  }
}

void Physics::link_scaled(LinkId link, double factor, double now) {
  Use& use = uses_[link.index()];
  if (use.flows > 0) use.busy += use.factor * (now - use.since);
  use.since = now;
  use.factor = factor;
}

Result<void> Physics::verdict(double now) const {
  if (!violation_.empty()) return failure("the simulation broke physics: " + violation_);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const Use& use = uses_[i];
    const double busy = use.busy + (use.flows > 0 ? use.factor * (now - use.since) : 0.0);
    if (use.bytes - use.left > use.rate * (busy * (1 + tolerance_) + use.ends * clock_error(now))) {
      return failure(fmt::format("the simulation broke physics: {} carried {} bytes in {} s of use",
                                 cluster_->links()[i].name, use.bytes, busy));
    }
  }
  return {};
}

Result<void> Carried::verdict(const std::vector<Bytes>& planned, double least, double most,
                              const Cluster& cluster) const {
  std::vector<double> carried(planned.size(), 0.0);  // by link
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    for (const LinkUse& use : (*paths_)[i]) carried[use.link.index()] += bytes_[i] * use.weight;
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const auto once = static_cast<double>(planned[i].count());
    if (carried[i] >= once * least * (1 - kTolerance) && carried[i] <= once * most * (1 + kTolerance))
      continue;
    return failure(fmt::format("the simulation lost bytes: {} carried {} bytes where the plan moves {}",
                               cluster.links()[i].name, carried[i], once * least));
  }
  return {};
}

}  // namespace weir
