// What every port must do: the contract of core/run/port.h, clause by clause, on small plans whose times are
// worked out by hand. A world passes if check_port() finds nothing.
#pragma once

#include <functional>
#include <string>

#include "core/fluid/simulation.h"

namespace weir::conformance {

/// A world under test: runs a plan on a cluster, with a node and a port for each machine.
struct World {
  std::string name;
  Duration tolerance;  // how far its times may be from those worked out by hand
  std::function<Result<Record>(const Plan&, const Cluster&, const SimulationSettings&, const Observer&)> run;
  bool exact = true;  // if not, links are what they are, and only the order of things is checked
};

/// Checks every clause that a node can see, each as a section of the test that calls it.
void check_port(const World& world);

}  // namespace weir::conformance
