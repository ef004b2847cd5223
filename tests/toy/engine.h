// The toy engine: the shortest specification of a fluid world, and the reference for SimGrid. Whenever a flow
// starts or ends, it computes all rates from the definition of max-min fairness, by progressive filling
// (core/simulate/engines/fair_rates.h).
#pragma once

#include <queue>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/simulate/engines/engine.h"

namespace weir::toy {

class ToyEngine final : public Engine {
 public:
  /// The links of the cluster, as the plan's ops use them. Only the efficiency of the plan matters.
  ToyEngine(const Plan& plan, const Cluster& cluster);
  /// `rates` are the rates of links by id, in bytes per second.
  explicit ToyEngine(const std::vector<double>& rates);

  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  double seconds() const override { return now_; }
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void start_timer(std::uint32_t id, Duration duration) override;
  void scale_link(LinkId link, double factor) override;
  Result<void> run(const Begin& begin, const OnInstant& instant) override;

 private:
  struct Flow {
    std::uint32_t id;
    PathView path;
    double left;  // bytes
    double rate = 0.0;
  };
  struct Timer {
    double at;
    std::uint32_t id;
    bool operator>(const Timer& other) const { return at != other.at ? at > other.at : id > other.id; }
  };

  void fill();
  double next() const;

  std::vector<double> whole_;  // by link, bytes per second
  std::vector<double> rates_;  // the current ones
  const Paths* paths_ = nullptr;
  std::vector<Flow> flows_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  bool changed_ = false;  // whether flows or rates of links changed since flows' rates were computed
  double now_ = 0.0;
};

}  // namespace weir::toy
