// The real world on this host: every machine of the cluster is a process, and bytes move.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/weir/trial.h"

namespace weir {

/// Of a cluster.
struct Host {
  std::string name;     // as the remote shell knows it
  std::string address;  // at which its peers find it
};

struct RealSettings {
  int channels = 2;               // between two machines: one cannot fill fast links
  int io_threads = 2;             // of each machine: move bytes
  int workers = 1;                // of each machine: sum and copy
  bool verify = false;            // whether gradients are written and every sum is checked
  std::string transport = "tcp";  // or "shm": what messages move through
  std::optional<double> pace;     // times what the plan needs for each peer; 0: as fast as can be
  double patience = 30;           // seconds, for each step of a job

  // Of a cluster.
  std::string listen;                     // the coordinator's address
  std::vector<Host> hosts;                // by machine, on which it starts nodes
  std::vector<std::string> remote_shell;  // which runs a command on a host
  std::string program;                    // weir there
  std::string key_file;                   // written for nodes that others start, instead of hosts
};

/// Runs plans on processes of this program that talk over the loopback interface or share memory.
World local_world(const RealSettings& settings);

/// The same in a lab (backends/real/lab/lab.h), whose links are shaped to the topology's rates. Before each
/// run the rate of plain connections is measured there, all machines sending and receiving at once. Paced if
/// the settings do not say otherwise, as there the topology's rates are the links'.
World lab_world(const RealSettings& settings);

/// The same on the hosts of a cluster, reached by a remote shell, or on whatever nodes join with the key.
World cluster_world(const RealSettings& settings);

/// One host a line, by machine: its name, and its address if that is another; # begins a comment.
Result<std::vector<Host>> read_hosts(const std::string& file);

}  // namespace weir
