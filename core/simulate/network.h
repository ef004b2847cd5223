// The links of a cluster, which the jobs of one simulation share. It combines the engine, the conditions that
// change links' rates, and the check of physics.
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
  /// `rates` are the rates that the engine uses for its links, in bytes per second.
  Network(const Cluster& cluster, const Conditions& conditions, std::vector<double> rates, Engine& engine);

  /// Sets the paths of each job's flows, before anything starts. Afterwards a path is named by its position
  /// among all paths. Fails if the engine cannot hold them, or if jobs sum on the same cores at different
  /// rates.
  Result<void> set_paths(std::vector<Paths> by_job);
  PathView path(int index) const { return paths_[static_cast<std::size_t>(index)]; }
  /// Whether no other flow ever slows down flows on this path, so that a timer can replace them.
  bool steady(int path) const { return steady_[static_cast<std::size_t>(path)]; }

  const Circumstances& circumstances() const { return circumstances_; }
  Instant now() const { return Instant::from_seconds(engine_.seconds()); }

  void start_timer(std::uint32_t id, Duration duration) { engine_.start_timer(id, duration); }
  /// A flow of a plan's bytes begins and ends. `burden` is the size that the engine simulates: it exceeds the
  /// flow's bytes if they move slowly. `alone` is the time that the flow takes on a steady path.
  struct Flow {
    std::uint32_t id = 0;
    int path = 0;
    bool message = false;
  };
  /// Prefetches what the end of the flow will read.
  void prefetch(std::uint32_t id) const { physics_.prefetch(id); }
  void start(const Flow& flow, Bytes burden, Duration alone);
  void end(const Flow& flow, Bytes bytes);

  /// Sets each link's rate to what the conditions leave of it from now on.
  void change();
  /// Restores the full rates, so that everything under way can end.
  void restore();
  /// Whether some link has no rate at all now.
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
  std::vector<bool> alone_;   // by link: whether it is the cores of a NUMA node that only one job sums on
  Physics physics_;
  Paths paths_;
  Binding binding_;
  std::vector<bool> steady_;   // by path
  std::vector<int> messages_;  // by link: messages that arrive through it, where their number matters
};

}  // namespace weir
