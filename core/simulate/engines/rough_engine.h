// Weir's fluid engine for the largest clusters. Its rates are fair within a precision, and its cost hardly
// grows with the number of flows whose rates change.
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

/// One link of its path holds each flow, and all flows that a link holds get the same rate: the link's level.
/// A link counts the bytes that a flow moves if the link holds it all the time. For each flow it knows the
/// count at which the flow ends. So a change of level takes effect for all its flows at once.
///
/// Invariants, besides those of event engines, after rates are shared out at an instant:
/// * No link is overused by more than half the precision. A link that holds flows is underused by no more
///   than that.
/// * No flow over a link that holds flows gets more than the link's level by more than half the precision.
///
/// Together they make each flow's link its bottleneck, as max-min fairness requires. A link that breaks them
/// gets another level, gives flows to links that hold them down more, or takes flows that get more than it
/// could give. This repeats until no link breaks them. It ends because links with the lowest level never
/// change flows that get less.
class RoughEngine final : public EventEngine {
 public:
  /// `rates` are the links' in bytes per second, by id, positive and finite. The precision is above 0 and
  /// below 1.
  RoughEngine(const std::vector<double>& rates, double precision);
  /// Its links are the cluster's, at the rates that the plan's ops reach.
  RoughEngine(const Plan& plan, const Cluster& cluster, double precision);

  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  double precision() const override { return precision_; }
  std::optional<std::uint32_t> coming() const override;
  /// Call it within run(); bytes must be positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void scale_link(LinkId link, double factor) override;

 private:
  using Slot = std::uint32_t;  // of a flow under way

  // A link of a flow's path.
  struct Hop {
    std::uint32_t link = 0;
    int weight = 1;
  };
  // The flow's place on that link.
  struct Place {
    std::uint32_t seat = 0;   // in the link's list of flows
    std::uint32_t cover = 0;  // the cover that it counts for, if the link has covers
  };
  static constexpr double kNever = Earliest::kNever;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Flow {
    std::uint32_t id = 0;
    std::uint32_t hops = 0;
    std::uint32_t holder = 0;  // a link; kNone for new flows
    std::uint32_t place = 0;   // in the link's list of held flows
  };
  struct Seat {
    Slot slot = 0;
    int weight = 1;
  };
  struct Held {
    double due = 0.0;  // the link's count at which the flow ends
    Slot slot = 0;
    int weight = 1;
  };
  // What each change of a flow's rate reads and writes of its links, stored close together. A link whose use
  // leaves its bounds is examined.
  struct alignas(32) Use {
    double used = 0.0;  // by its flows
    double most = 0.0;  // upper bound on the rates of its flows that other links hold
    double lower = -kNever;
    double upper = kNever;
  };
  struct Shared {
    double rate = 0.0;
    double whole = 0.0;       // its rate when not scaled
    double level = 0.0;       // the rate of each flow that it holds
    double count = 0.0;       // bytes, at `since`
    double since = 0.0;       // seconds
    std::int64_t weight = 0;  // of the flows that it holds
    bool idle = false;        // it cannot bind now: its use is not kept, and it should hold nothing
    bool queued = false;      // it may break an invariant
    bool moved = false;       // the times when its held flows end have changed
    bool lost = false;        // and which of them ends first is unknown
    std::uint32_t first = 0;  // the place of the one that ends first
    std::vector<Held> held;
    std::vector<Hop> others;  // width_ hops for each held flow: those over other links
    std::vector<Seat> flows;
  };
  struct Fresh {
    Slot slot;
    double left;  // bytes
  };
  // The flows that a link would have to take over to bring all its own flows to one level.
  struct Taking {
    double level = 0.0;
    double most = 0.0;                           // upper bound on the rates of the others
    std::vector<std::pair<double, Seat>> flows;  // with their current rates, highest first
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
  double slack_;               // fraction of its rate by which a link may be over- or underused
  std::vector<double> rates_;  // by link's id
  const Paths* paths_ = nullptr;
  // By link's id; kNone if no path has it or it never binds.
  std::vector<std::uint32_t> numbers_;
  std::vector<CoverCount> covered_;  // by link's number, here and below
  std::size_t longest_ = 0;          // of the paths, without links that never bind
  std::size_t width_ = 0;            // of the paths without the holder's link
  std::vector<Shared> links_;
  std::vector<Flow> flows_;            // by slot
  std::vector<Use> uses_;              // by link
  std::vector<double> limits_;         // by link: flows that get more may move to it; kNever if it holds none
  std::vector<Hop> hops_;              // by slot, longest_ for each
  std::vector<Place> places_;          // likewise
  std::vector<Slot> vacant_;           // slots
  std::vector<Fresh> fresh_;           // flows that have arrived since rates were last shared out
  std::vector<std::uint32_t> queued_;  // links
  std::vector<std::uint32_t> moved_;   // links
  Taking found_;
  Taking least_;
};

}  // namespace weir
