// What every byte of a model must pass in an iteration, whatever the strategy.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"

namespace weir {

/// This many bytes at this rate, for each byte of the model.
struct Passage {
  /// What the passage lies between.
  enum class Cut {
    kNone,  // nothing: bytes between any machines share it
    kOut,   // `machine`, or the machines of `rack`, and all machines that they send gradients to
    kIn,    // the same with the machines that they get gradients from
  };
  static constexpr int kNoRack = -1;

  std::string name;
  MachineId machine;
  double bytes;
  double rate;
  Cut cut = Cut::kNone;
  int rack = kNoRack;
  bool inside = false;  // it also lies between GPUs of `machine`

  double seconds_per_byte() const { return bytes / rate; }
};

/// Out of each GPU machine and into it, and through all NICs together (bound.h has the formulas).
void add_network(const Cluster& cluster, std::vector<Passage>& passages);
/// Through the uplinks of racks that hold some but not all GPU machines.
void add_racks(const Cluster& cluster, std::vector<Passage>& passages);
/// Out of each GPU and into it, if there are several.
void add_gpus(const Cluster& cluster, std::vector<Passage>& passages);

}  // namespace weir
