// Checks that a port keeps the contract of core/run/port.h, clause by clause, on small plans whose times are
// computed by hand. A world passes if check_port() finds nothing.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/plan/access.h"
#include "core/simulate/simulation.h"

namespace weir::conformance {

/// The bytes of an extent of one of the plan's buffers.
using BytesOf = std::function<std::span<std::byte>(const Extent&)>;

/// A run that a world is asked to do.
struct Trial {
  const Plan& plan;
  const Cluster& cluster;
  SimulationSettings settings;
  Observer observer = {};
  /// Called before the first op and after the last op, if the world moves real bytes.
  std::function<void(const BytesOf&)> fill = {};
  std::function<void(const BytesOf&)> look = {};
  /// How long a world in real time waits if nothing happens.
  Duration patience{30'000'000'000};
};

/// A world under test: runs a plan on a cluster, with a node and a port for each machine.
struct World {
  std::string name;
  Duration tolerance;  // how far its times may be from those computed by hand
  std::function<Result<Record>(const Trial&)> run;
  bool exact = true;  // if not, links have unknown rates, and only the order of events is checked
  int gpus = 3;       // the most that each of its machines may have
  Bytes room = Bytes(std::int64_t{1} << 60);  // the memory of its machines together, if it has real bytes
};

/// Checks every clause that a node can see, each as a section of the test that calls it.
void check_port(const World& world);

/// The part of check_port() about the data of ops: messages of every size, ops of every kind, and runs that
/// cannot end.
void check_work(const World& world);

}  // namespace weir::conformance
