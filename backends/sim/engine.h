// The fluid engine of the simulated world: SimGrid's max-min sharing behind core/simulate/engines/engine.h,
// under settings that suit RDMA. SimGrid appears in engine.cc only, which also says why each setting is as it
// is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/simulate/engines/engine.h"

namespace weir::sim {

/// A link of the platform; its LinkId is its position in the list given to the engine.
struct LinkSpec {
  std::string name;
  double bytes_per_second = 0.0;  // positive and finite: SimGrid lets flows pass a link of rate 0
};

/// SimGrid is a singleton: a process has at most one engine at a time. It may make several in turn, and fork.
///
/// Invariants:
/// * Time begins at 0, never goes back, and moves only between two calls of `instant`.
/// * What ends at one instant ends in one call. To an instant belong timers that end less than a picosecond
///   after it and flows of which less than 1e-4 bytes are left.
/// * Instants are right to a nanosecond, for 5 million of them, 1000 s and flows faster than 100 kB/s.
/// * A flow has no latency and no ramp-up.
/// * The same calls give the same instants bit for bit.
class Engine final : public weir::Engine {
 public:
  /// The settings of SimGrid that instants depend on, for every result to repeat.
  static std::string settings();

  explicit Engine(const std::vector<LinkSpec>& links);
  ~Engine() override;

  /// At most 261632 paths that differ in links that can bind.
  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  double seconds() const override;
  /// To be called within run(), like start_timer(); bytes are positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void start_timer(std::uint32_t id, Duration duration) override;
  /// A link with none of its rate has a byte per second.
  void scale_link(LinkId link, double factor) override;
  Result<void> run(const Begin& begin, const OnInstant& instant) override;

 private:
  class Agenda;
  struct Platform;
  std::unique_ptr<Platform> platform_;
};

}  // namespace weir::sim
