// The commands for `ip` and `tc` that build a cluster's network on one host. A pure function of the cluster,
// so that it can be read and tested without the right to make networks.
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
// A machine's end of a link is shaped to the NIC's outgoing rate, the switch's end to its incoming rate. A
// rack is a bridge whose uplink to the core is shaped to the rack's rates. Without racks, or with unlimited
// racks, all links meet in the core.

/// A value: the commands, in the order in which they must run.
struct Wiring {
  /// Lines for one call of a program in one network namespace.
  struct Batch {
    MachineId machine;  // none: the switch
    // "ip"; "tc"; "sysctl", with lines "path/below/proc/sys=value"; or "steer", with lines of interfaces,
    // where each incoming connection is handled by one CPU.
    std::string tool;
    std::string lines;
    bool needed = true;  // if false, the lab works without it where it is not allowed
    friend bool operator==(const Batch&, const Batch&) = default;
  };

  /// The batches of the switch find the namespace of machine i as file kFirstFile + i.
  static constexpr int kFirstFile = 100;

  std::vector<Batch> batches;

  /// All batches as text, each line with the place where it runs.
  std::string text() const;

  friend bool operator==(const Wiring&, const Wiring&) = default;
};

/// The address of a machine's NIC in every lab: the first of machine 0 is "10.0.0.1".
std::string lab_address(MachineId machine, int nic);
/// The lower half of the addresses of the machine with that number.
int lab_host(std::size_t machine);

/// The wiring of the cluster. Fails if a machine has no NIC, or if there are more machines or NICs than a lab
/// can hold.
Result<Wiring> wiring(const Cluster& cluster);

}  // namespace weir::real
