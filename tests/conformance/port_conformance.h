// What every port must do: the contract of core/run/port.h, clause by clause, on small plans whose times are
// worked out by hand. A world passes if check_port() finds nothing.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/plan/access.h"
#include "core/simulate/simulation.h"

namespace weir::conformance {

/// The bytes of an extent of one of the plan's buffers.
using BytesOf = std::function<std::span<std::byte>(const Extent&)>;

/// A run that a world is asked for.
struct Trial {
  const Plan& plan;
  const Cluster& cluster;
  SimulationSettings settings;
  Observer observer = {};
  /// Called before the first op and after the last, if the world has bytes.
  std::function<void(const BytesOf&)> fill = {};
  std::function<void(const BytesOf&)> look = {};
  /// How long a world whose time passes by itself lets nothing happen.
  Duration patience{30'000'000'000};
};

/// A world under test: runs a plan on a cluster, with a node and a port for each machine.
struct World {
  std::string name;
  Duration tolerance;  // how far its times may be from those worked out by hand
  std::function<Result<Record>(const Trial&)> run;
  bool exact = true;  // if not, links are what they are, and only the order of things is checked
  int gpus = 3;       // that each of its machines may have
  Bytes room = Bytes(std::int64_t{1} << 60);  // how many bytes its machines have together, if they have any
};

/// Checks every clause that a node can see, each as a section of the test that calls it.
void check_port(const World& world);

/// The part of it that is about what ops work on: messages of every size, ops of every kind, and runs that
/// cannot end.
void check_work(const World& world);

}  // namespace weir::conformance
