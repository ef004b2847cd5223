// What a fluid world must offer: flows that share links max-min fairly, and timers. SimGrid is one
// (backends/sim); the toy engine of the tests is another, and the oracle for it.
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

/// Rates follow max-min fairness: of the flows over a saturated link none gets more than another, in bytes of
/// flow per second, unless the other is held back elsewhere; a flow of weight w takes w times its rate of the
/// link. One owner thread.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// The paths that flows may take, named by their position, and when links may be left out; once, before
  /// run(), which both outlive. Fails if they are more than the engine can hold.
  virtual Result<void> set_paths(const Paths& paths, const Binding& binding) = 0;
  /// By what part of their rates links may be used beyond them; most flows' rates are about as near to fair
  /// ones, some several times as far off.
  virtual double precision() const { return 0.0; }
  /// What probably ends next, within run(), so that what this will take can be fetched in time; none if the
  /// engine cannot say.
  virtual std::optional<std::uint32_t> coming() const { return std::nullopt; }
  /// The time of this engine in seconds since its start.
  virtual double seconds() const = 0;
  /// Starts something that ends later and is then reported under `id`. At most one thing per id is under way.
  virtual void start_flow(std::uint32_t id, int path, Bytes bytes) = 0;
  virtual void start_timer(std::uint32_t id, Duration duration) = 0;
  /// The link, one that varies, has this fraction (0 to 1) of its rate from now on. Within run().
  virtual void scale_link(LinkId link, double factor) = 0;

  /// Calls `begin` once, and `instant` with everything that has ended at one instant, sorted by id; both may
  /// start more. Returns when nothing is under way; fails if something is and cannot end.
  using Begin = std::function<void()>;
  using OnInstant = std::function<void(std::span<const std::uint32_t> ended)>;
  virtual Result<void> run(const Begin& begin, const OnInstant& instant) = 0;
};

}  // namespace weir
