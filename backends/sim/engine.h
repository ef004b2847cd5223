// The fluid engine of the simulated world: SimGrid's max-min sharing, behind core/simulate/engines/engine.h,
// with settings that suit RDMA. Only engine.cc uses SimGrid; it also gives the reason for each setting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/simulate/engines/engine.h"

namespace weir::sim {

/// A link of the platform. Its LinkId is its position in the list given to the engine.
struct LinkSpec {
  std::string name;
  double bytes_per_second = 0.0;  // positive and finite: in SimGrid, a link of rate 0 stops no flow
};

/// SimGrid is a singleton: a process has at most one engine at a time. It may make several, one after
/// another, and fork.
///
/// Invariants:
/// * Time begins at 0, never goes back, and moves only between calls of `instant`.
/// * All that ends at one instant ends in one call. An instant includes timers that end less than a
/// picosecond later, and
///   flows with less than 1e-4 bytes left.
/// * Instants are exact to a nanosecond, up to 5 million of them and 1000 s, for flows faster than 100 kB/s.
/// * A flow has no latency and no ramp-up.
/// * The same calls give the same instants, bit for bit.
class Engine final : public weir::Engine {
 public:
  /// The settings of SimGrid that instants depend on, kept with every result so that it can be repeated.
  static std::string settings();

  explicit Engine(const std::vector<LinkSpec>& links);
  ~Engine() override;

  /// At most 261632 paths that differ in the links that can limit them.
  Result<void> set_paths(const Paths& paths, const Binding& binding) override;
  double seconds() const override;
  /// Call it within run(), like start_timer(). Bytes must be positive.
  void start_flow(std::uint32_t id, int path, Bytes bytes) override;
  void start_timer(std::uint32_t id, Duration duration) override;
  /// A link scaled to 0 keeps a rate of one byte per second.
  void scale_link(LinkId link, double factor) override;
  Result<void> run(const Begin& begin, const OnInstant& instant) override;

 private:
  class Agenda;
  struct Platform;
  std::unique_ptr<Platform> platform_;
};

}  // namespace weir::sim
