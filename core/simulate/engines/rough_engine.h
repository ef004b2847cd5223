// Weir's fluid engine for the largest clusters: rates that are fair to a precision, at a cost that hardly
// grows with the flows whose rates change.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/simulate/engines/cover_count.h"
#include "core/simulate/engines/event_engine.h"

namespace weir {

/// Each flow is held by one link of its path, and all flows that a link holds get the same: its level. A link
/// counts what a flow has moved that it has held all the time, and of each flow where that count is when it
/// ends; so a level changes at once for all.
///
/// Invariants, beside those of event engines, once rates are shared out at an instant:
/// * No link is used by more than half the precision beyond its rate; one that holds flows is used by no less
///   than that below it.
/// * No flow over a link that holds flows gets more than its level by more than half the precision.
///
/// The first two make each flow's link its bottleneck, as max-min fairness wants. Links that break them get
/// another level, let flows go to links that hold them down more, or take such as get more than they could,
/// until none does. Those whose flows get the least change none that get less, which is why it ends.
class RoughEngine final : public EventEngine {
 public:
  /// `rates` are the links' in bytes per second, by id, positive and finite; the precision is above 0 and
  /// below 1.
  RoughEngine(const std::vector<double>& rates, double precision);
  /// Its links are the cluster's, as the plan's ops reach them.
  RoughEngine(const Plan& plan, const Cluster& cluster, double precision);

  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  double precision() const override { return precision_; }
  std::optional<std::uint32_t> coming() const override;
  /// To be called within run(); bytes are positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void scale_link(LinkId link, double factor) override;

 private:
  using Slot = std::uint32_t;  // of a flow that is under way

  // A link of a flow's path.
  struct Hop {
    std::uint32_t link = 0;
    int weight = 1;
  };
  // And the flow's place there.
  struct Place {
    std::uint32_t seat = 0;   // among the link's
    std::uint32_t cover = 0;  // the one that it counts for, of a link that has any
  };
  static constexpr double kNever = Earliest::kNever;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Flow {
    std::uint32_t id = 0;
    std::uint32_t hops = 0;
    std::uint32_t holder = 0;  // a link; kNone of flows that have only come
    std::uint32_t place = 0;   // among those that it holds
  };
  struct Seat {
    Slot slot = 0;
    int weight = 1;
  };
  struct Held {
    double due = 0.0;  // the link's count when it ends
    Slot slot = 0;
    int weight = 1;
  };
  // What each change of a flow's rate reads and writes of its links, close together. A link whose use is not
  // within its bounds is looked at.
  struct alignas(32) Use {
    double used = 0.0;  // by its flows
    double most = 0.0;  // none of those that others hold gets more
    double lower = -kNever;
    double upper = kNever;
  };
  struct Shared {
    double rate = 0.0;
    double whole = 0.0;       // its rate, unless it is scaled
    double level = 0.0;       // what flows get that it holds
    double count = 0.0;       // bytes, at `since`
    double since = 0.0;       // seconds
    std::int64_t weight = 0;  // of what it holds
    bool idle = false;        // it cannot bind now: its use is not kept, and it should hold nothing
    bool queued = false;      // it may break an invariant
    bool moved = false;       // when what it holds ends is not known any more,
    bool lost = false;        // nor what ends first
    std::uint32_t first = 0;  // the place of what does
    std::vector<Held> held;
    std::vector<Hop> others;  // of each of them width_ hops: those over other links
    std::vector<Seat> flows;
  };
  struct Fresh {
    Slot slot;
    double left;  // bytes
  };
  // Flows that a link would have to take to bring all of its own to a level.
  struct Taking {
    double level = 0.0;
    double most = 0.0;                           // none of the others gets more
    std::vector<std::pair<double, Seat>> flows;  // and what they get now, the most first
  };

  std::span<const Hop> hops(Slot slot) const {
    return std::span(hops_).subspan(slot * longest_, flows_[slot].hops);
  }
  std::uint32_t enter(std::uint32_t link, PathView path);
  void leave(std::uint32_t link, std::uint32_t cover);
  void recount(std::uint32_t link);
  void remove(Slot slot);

  double rate_of(Slot slot) const;
  void count(Shared& link) const;
  void hold(Fresh flow, std::uint32_t link);
  Fresh release(Slot slot);
  void change(Slot slot, double by);
  void change(const Hop& hop, double by, double rate);
  void move(Slot slot, std::uint32_t link);
  void bound(std::uint32_t link);
  void watch(std::uint32_t link);
  void find(std::uint32_t number, int more, Taking& found);
  void take_in(std::uint32_t link, const Taking& found);
  void set_level(std::uint32_t link, double level);
  void raise(std::uint32_t link);
  void place(Fresh flow);
  void evict(std::uint32_t link);
  void settle(std::uint32_t link);
  void share() override;
  void schedule(std::uint32_t link);
  void end_flows(double by, std::vector<std::uint32_t>& ended) override;

  double precision_;
  double slack_;               // by how much of its rate a link may be used more or less than wholly
  std::vector<double> rates_;  // by link's id
  const Paths* paths_ = nullptr;
  std::vector<std::uint32_t>
      numbers_;                      // of links by id; kNone of those that can never bind: no path has them
  std::vector<CoverCount> covered_;  // by link's number, here and below
  std::size_t longest_ = 0;          // of the paths, without links that never bind
  std::size_t width_ = 0;            // of them but one
  std::vector<Shared> links_;
  std::vector<Flow> flows_;            // by slot
  std::vector<Use> uses_;              // by link
  std::vector<double> limits_;         // by link: flows that get more may go to it; kNever if it holds none
  std::vector<Hop> hops_;              // by slot, longest_ for each
  std::vector<Place> places_;          // likewise
  std::vector<Slot> vacant_;           // slots
  std::vector<Fresh> fresh_;           // flows that have come since rates were shared out
  std::vector<std::uint32_t> queued_;  // links
  std::vector<std::uint32_t> moved_;   // links
  Taking found_;
  Taking least_;
};

}  // namespace weir
