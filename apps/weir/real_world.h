// The real world on this host: every machine of the cluster is a process, and bytes move.
#pragma once

#include <string>

#include "apps/weir/trial.h"

namespace weir {

struct RealSettings {
  int channels = 1;               // between two machines
  int io_threads = 1;             // of each machine: move bytes
  int workers = 1;                // of each machine: sum and copy
  bool verify = false;            // whether gradients are written and every sum is checked
  std::string transport = "tcp";  // or "shm": what messages move through
  double patience = 30;           // seconds, for each step of a job
};

/// Runs plans on processes of this program that talk over the loopback interface or share memory.
World local_world(const RealSettings& settings);

/// The same in a lab (backends/real/lab/lab.h), whose links are shaped to the topology's rates. Before each
/// run the rate of plain connections is measured there, all machines sending and receiving at once.
World lab_world(const RealSettings& settings);

}  // namespace weir
