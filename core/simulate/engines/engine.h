// What a fluid simulation must offer: flows that share links max-min fairly, and timers. Implementations are
// Weir's own engines, SimGrid (backends/sim), and the toy engine of the tests, which serves as their oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/hardware/paths.h"
#include "core/simulate/engines/binding.h"

namespace weir {

/// Rates are max-min fair: of the flows over a saturated link, none gets more than another (in bytes of flow
/// per second) unless the other is held back elsewhere. A flow of weight w uses w times its rate of the link.
/// One owner thread.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// Sets the paths that flows may take, named by position, and which links may be left out. Call it once,
  /// before run(); both arguments outlive run(). Fails if there are more paths than the engine can hold.
  virtual Result<void> set_paths(const Paths& paths, const Binding& binding) = 0;
  /// The fraction of its rate by which a link may be overused. Most flows' rates are about as close to the
  /// fair ones; some are several times as far off.
  virtual double precision() const { return 0.0; }
  /// What will probably end next, so that its data can be prefetched; none if the engine cannot say. Call it
  /// within run().
  virtual std::optional<std::uint32_t> coming() const { return std::nullopt; }
  /// The engine's time in seconds since its start.
  virtual double seconds() const = 0;
  /// Starts something whose end will be reported under `id`. Each id may be under way only once at a time.
  virtual void start_flow(std::uint32_t id, int path, Bytes bytes) = 0;
  virtual void start_timer(std::uint32_t id, Duration duration) = 0;
  /// Sets a link that varies to this fraction (0 to 1) of its rate from now on. Call it within run().
  virtual void scale_link(LinkId link, double factor) = 0;

  /// Calls `begin` once, then `instant` with everything that ended at one instant, sorted by id. Both may
  /// start more. Returns when nothing is under way. Fails if something is under way but cannot end.
  using Begin = std::function<void()>;
  using OnInstant = std::function<void(std::span<const std::uint32_t> ended)>;
  virtual Result<void> run(const Begin& begin, const OnInstant& instant) = 0;
};

}  // namespace weir
