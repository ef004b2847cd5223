// What must be said to `ip` and `tc` so that a cluster's network stands on one host. A pure function of the
// cluster, so that it can be read and tested without any right to make a network.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/shaping.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"

namespace weir::real {

//                    machine 0            switch                       machine 1
//                     [ eth0 ]----[ m0n0  (rack0 ... core ... rack1)  m1n0 ]----[ eth0 ]
//
// A machine's end of a link is shaped to the NIC's rate out of it, the switch's end to the rate into it. A
// rack is a bridge whose uplink to the core is shaped to the rack's rates. Without racks, or where racks hold
// nothing up, all links meet in the core.

/// A value: the commands in the order in which they are to be run.
struct Wiring {
  /// Lines for one call of a program in one network namespace.
  struct Batch {
    MachineId machine;   // none: the switch
    std::string tool;    // "ip", "tc", "sysctl", whose lines are "path/below/proc/sys=value", or "steer"
    std::string lines;   // of "steer" interfaces, each connection into which is one CPU's work
    bool needed = true;  // else the lab is made without what is not allowed here
    friend bool operator==(const Batch&, const Batch&) = default;
  };

  /// The batches of the switch find the namespace of machine i as file kFirstFile + i.
  static constexpr int kFirstFile = 100;

  std::vector<Batch> batches;

  /// All batches, each line with where it is run.
  std::string text() const;

  friend bool operator==(const Wiring&, const Wiring&) = default;
};

/// The address of a machine's NIC in every lab: "10.0.0.1" is machine 0's first.
std::string lab_address(MachineId machine, int nic);
/// The lower half of the addresses of the machine of that number.
int lab_host(std::size_t machine);

/// The wiring of the cluster. Fails if a machine has no NIC or there are more machines or NICs than a lab can
/// hold.
Result<Wiring> wiring(const Cluster& cluster);

}  // namespace weir::real
