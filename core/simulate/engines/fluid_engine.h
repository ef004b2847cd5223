// Weir's own exact fluid engine. Its rates are those of fair_rates.h, computed once an instant and only for
// flows whose rates may change then.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/simulate/engines/cover_count.h"
#include "core/simulate/engines/event_engine.h"

namespace weir {

/// Rates are max-min fair if each flow has a bottleneck: a full link in its path on which no flow gets more.
/// The engine computes new rates for flows that arrive and flows that lose their bottleneck when others
/// leave; all others keep theirs. If this takes the bottleneck from another flow, that flow joins the
/// computation, until every flow has one. A computation costs time in proportion to the path lengths of its
/// flows, whatever else moves over their links.
class FluidEngine final : public EventEngine {
 public:
  /// `rates` are the links' in bytes per second, by id, positive and finite.
  explicit FluidEngine(const std::vector<double>& rates);
  /// Its links are the cluster's, at the rates that the plan's ops reach.
  FluidEngine(const Plan& plan, const Cluster& cluster);

  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  /// Call it within run(); bytes must be positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void scale_link(LinkId link, double factor) override;

 private:
  using Slot = std::uint32_t;  // of a flow under way

  // A link of a flow's path.
  struct Hop {
    std::uint32_t link = 0;
    int weight = 1;
    std::uint32_t seat = 0;   // the flow's place in the link's list
    std::uint32_t cover = 0;  // the cover that it counts for, if the link has covers
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // Fits one cache line.
  struct alignas(64) Flow {
    std::uint32_t id = 0;
    std::uint32_t hops = 0;
    double left = 0.0;             // bytes, at `since`
    double since = 0.0;            // seconds
    double rate = 0.0;             // bytes per second, from then on
    std::uint32_t bottleneck = 0;  // a link; kNone for new flows
    std::uint32_t visit = 0;       // the last computation that included it
  };
  struct Seat {
    Slot slot = 0;
    int weight = 1;
  };
  // What every computation reads fits one cache line.
  struct alignas(64) Shared {
    std::uint32_t visit = 0;  // as for a flow
    std::uint32_t met = 0;    // its place in that computation
    double rate = 0.0;
    double used = 0.0;        // by its flows
    std::int64_t weight = 0;  // of its flows
    double most = 0.0;        // upper bound on its flows' rates
    double level = 0.0;       // rate of the flows whose bottleneck it is
    std::size_t held = 0;     // number of these flows
    bool left = false;        // flows have left since the last computation
    // It cannot bind now: `used` and `most` are not kept, and it is no flow's bottleneck.
    bool idle = false;
    double whole = 0.0;  // its rate when not scaled
    std::vector<Seat> flows;
  };
  // Working data of a computation, stored close together for the caches: the flows that get new rates, and
  // the links on their paths.
  struct Concerned {
    Slot slot = 0;
    std::uint32_t first = 0;  // its first hop in met_hops_
    std::uint32_t hops = 0;
    std::uint32_t bottleneck = 0;  // so far
    double rate = 0.0;             // so far
    double next = 0.0;             // rate
    std::uint32_t next_bottleneck = 0;
    bool open = false;  // the next rate is not yet known
  };
  struct MetHop {
    std::uint32_t met = 0;
    int weight = 1;
  };
  struct Met {
    std::uint32_t link = 0;
    std::uint32_t flows = 0;  // number of concerned flows
    // Its flows in met_seats_ as of the last prepare(): the first, and their number.
    std::uint32_t first = 0;
    std::uint32_t seats = 0;
    double rate = 0.0;
    double room = 0.0;      // rate not yet given to any of them
    std::int64_t open = 0;  // weight of flows that have no new rate yet
  };

  std::span<Hop> hops(Slot slot) { return std::span(hops_).subspan(slot * longest_, flows_[slot].hops); }
  std::span<const MetHop> hops(const Concerned& flow) const {
    return std::span(met_hops_).subspan(flow.first, flow.hops);
  }
  // The link's concerned flows: a seat's slot is the index in concerned_.
  std::span<const Seat> seats(const Met& met) const {
    return std::span(met_seats_).subspan(met.first, met.seats);
  }
  std::uint32_t enter(LinkId link, PathView path);
  void leave(const Hop& hop);
  void remove(Slot slot);
  void concern(Slot slot);
  void concern_held(std::uint32_t link);
  void prepare();
  void fill();
  bool widen();
  void set_rate(const Concerned& concerned);
  void share() override;
  void end_flows(double by, std::vector<std::uint32_t>& ended) override;

  const Paths* paths_ = nullptr;
  const Binding* binding_ = nullptr;
  std::vector<CoverCount> covered_;  // by link
  std::size_t longest_ = 0;          // of the paths, without links that never bind
  std::vector<Shared> links_;        // by id
  std::vector<Flow> flows_;          // by slot
  std::vector<Hop> hops_;  // by slot, longest_ for each: the links of its path, kept together for the caches
  std::vector<Slot> vacant_;           // slots
  std::vector<Slot> fresh_;            // flows that have arrived since the last computation
  std::vector<std::uint32_t> left_;    // links that flows have left since then
  std::vector<std::uint32_t> scaled_;  // links whose rates have changed since then
  std::vector<Concerned> concerned_;
  std::vector<MetHop> met_hops_;  // of all concerned flows and links
  std::vector<Met> met_;
  std::vector<Seat> met_seats_;  // of all concerned flows and links
  std::vector<double> levels_;   // by met link: the rate per weight of its open flows if it fills up next
  std::uint32_t visit_ = 0;
};

}  // namespace weir
