// Weir's own fluid engine: the rates of fair_rates.h, computed once an instant and only for
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

/// Rates are max-min fair if each flow has a bottleneck: a full link of its path of which no flow gets more.
/// Flows that come, and those that lose their bottleneck when others go, get new rates beside all others,
/// which keep theirs; whoever has no bottleneck then joins them, until all have one. A computation costs what
/// its flows' paths are long, not what else moves over their links.
class FluidEngine final : public EventEngine {
 public:
  /// `rates` are the links' in bytes per second, by id, positive and finite.
  explicit FluidEngine(const std::vector<double>& rates);
  /// Its links are the cluster's, as the plan's ops reach them.
  FluidEngine(const Plan& plan, const Cluster& cluster);

  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  /// To be called within run(); bytes are positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void scale_link(LinkId link, double factor) override;

 private:
  using Slot = std::uint32_t;  // of a flow that is under way

  // A link of a flow's path.
  struct Hop {
    std::uint32_t link = 0;
    int weight = 1;
    std::uint32_t seat = 0;   // the flow's place among the link's
    std::uint32_t cover = 0;  // the one that it counts for, of a link that has any
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // In one line of a cache.
  struct alignas(64) Flow {
    std::uint32_t id = 0;
    std::uint32_t hops = 0;
    double left = 0.0;             // bytes, at `since`
    double since = 0.0;            // seconds
    double rate = 0.0;             // bytes per second, from then on
    std::uint32_t bottleneck = 0;  // a link; kNone of flows that have only come
    std::uint32_t visit = 0;       // the last computation that it was part of
  };
  struct Seat {
    Slot slot = 0;
    int weight = 1;
  };
  // In one line what every computation reads.
  struct alignas(64) Shared {
    std::uint32_t visit = 0;  // as a flow's,
    std::uint32_t met = 0;    // and where it stands in it
    double rate = 0.0;
    double used = 0.0;        // by its flows
    std::int64_t weight = 0;  // of its flows
    double most = 0.0;        // no flow of it gets more
    double level = 0.0;       // what flows get whose bottleneck it is
    std::size_t held = 0;     // how many they are
    bool left = false;        // flows have gone since the last computation
    bool idle = false;        // it cannot bind now: `used` and `most` are not kept, and no flow is held by it
    double whole = 0.0;       // its rate, unless it is scaled
    std::vector<Seat> flows;
  };
  // While rates are computed, what that takes stands close together, where caches find it: the flows that get
  // new ones, and the links that they meet on.
  struct Concerned {
    Slot slot = 0;
    std::uint32_t first = 0;  // of its hops, in met_hops_
    std::uint32_t hops = 0;
    std::uint32_t bottleneck = 0;  // so far
    double rate = 0.0;             // so far
    double next = 0.0;             // rate
    std::uint32_t next_bottleneck = 0;
    bool open = false;  // the next rate is not known yet
  };
  struct MetHop {
    std::uint32_t met = 0;
    int weight = 1;
  };
  struct Met {
    std::uint32_t link = 0;
    std::uint32_t flows = 0;  // concerned ones
    std::uint32_t first = 0;  // of those that were when rates were computed last, in met_seats_,
    std::uint32_t seats = 0;  // and how many they are
    double rate = 0.0;
    double room = 0.0;      // that none of them has been given yet
    std::int64_t open = 0;  // weight of those that have not been given theirs
  };

  std::span<Hop> hops(Slot slot) { return std::span(hops_).subspan(slot * longest_, flows_[slot].hops); }
  std::span<const MetHop> hops(const Concerned& flow) const {
    return std::span(met_hops_).subspan(flow.first, flow.hops);
  }
  // Of concerned flows their places among them.
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
  std::vector<CoverCount> covered_;    // by link
  std::size_t longest_ = 0;            // of the paths, without these
  std::vector<Shared> links_;          // by id
  std::vector<Flow> flows_;            // by slot
  std::vector<Hop> hops_;              // by slot, longest_ for each: of its path, where caches find them
  std::vector<Slot> vacant_;           // slots
  std::vector<Slot> fresh_;            // flows that have come since the last computation
  std::vector<std::uint32_t> left_;    // links that flows have left since
  std::vector<std::uint32_t> scaled_;  // links whose rates have changed since
  std::vector<Concerned> concerned_;
  std::vector<MetHop> met_hops_;  // of all of them
  std::vector<Met> met_;
  std::vector<Seat> met_seats_;  // of all of them
  std::vector<double> levels_;   // of them: what each open flow gets for its weight if the link is full next
  std::uint32_t visit_ = 0;
};

}  // namespace weir
