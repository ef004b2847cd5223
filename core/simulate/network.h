// The links of a cluster as the jobs of one simulation share them: the engine below, the conditions that
// change their rates, and the physics that watches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/simulate/conditions.h"
#include "core/simulate/engines/binding.h"
#include "core/simulate/engines/engine.h"
#include "core/simulate/physics.h"

namespace weir {

/// The engine and the cluster outlive it.
class Network {
 public:
  /// The rates are what the engine has for its links, in bytes per second.
  Network(const Cluster& cluster, const Conditions& conditions, std::vector<double> rates, Engine& engine);

  /// The paths of each job's flows, before anything starts; from then on a path is named by its position
  /// among all of them. Fails if the engine cannot hold them, or jobs sum on the same cores at unlike rates.
  Result<void> set_paths(std::vector<Paths> by_job);
  PathView path(int index) const { return paths_[static_cast<std::size_t>(index)]; }
  /// No other flow ever slows this path's flows down: a timer will do for them.
  bool steady(int path) const { return steady_[static_cast<std::size_t>(path)]; }

  const Circumstances& circumstances() const { return circumstances_; }
  Instant now() const { return Instant::from_seconds(engine_.seconds()); }

  void start_timer(std::uint32_t id, Duration duration) { engine_.start_timer(id, duration); }
  /// A flow of a plan's bytes begins and ends. What it costs the engine is `burden`, the same but for bytes
  /// that move slowly; `alone` is the time that it takes on a steady path.
  struct Flow {
    std::uint32_t id = 0;
    int path = 0;
    bool message = false;
  };
  /// Has the processor fetch what it will take to end the flow.
  void prefetch(std::uint32_t id) const { physics_.prefetch(id); }
  void start(const Flow& flow, Bytes burden, Duration alone);
  void end(const Flow& flow, Bytes bytes);

  /// Gives the links the rates that conditions leave them from now on.
  void change();
  /// Gives them all of their rates, so that what is under way comes to its end.
  void restore();
  /// Some link lets nothing through now.
  bool down() const;

  /// Whether all flows so far obeyed physics.
  Result<void> verdict() const { return physics_.verdict(engine_.seconds()); }

 private:
  Result<void> check_sums(const std::vector<Paths>& by_job);
  void find_steady();
  void count(const Flow& flow, int more);
  void scale(LinkId link, double factor);
  double factor(LinkId link) const;

  const Cluster& cluster_;
  Engine& engine_;
  Circumstances circumstances_;
  std::vector<double> rates_;
  std::vector<bool> varies_;  // by link: its rate may change while jobs run
  std::vector<bool> alone_;   // by link: cores of a NUMA node that one job alone sums on
  Physics physics_;
  Paths paths_;
  Binding binding_;
  std::vector<bool> steady_;   // by path
  std::vector<int> messages_;  // by link: that come in through it, where that matters
};

}  // namespace weir
